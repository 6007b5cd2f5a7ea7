# SPDX-License-Identifier: BSD-3-Clause
"""The MPI of a wheel that holds the library several times, once for each binary interface of MPI.

Each interface has a folder in the package, with the module and the library that were built for it. choose() loads an MPI
and names its folder. A package that pip has compiled against a library of this machine has none of these folders, and
loads the MPI of that library.
"""

import ctypes
import importlib.util
import os
import site
import sys
from typing import Iterator, List, Optional, Tuple

# The folder of an interface: the file that what was built for it loads, and other names under which MPIs install it.
INTERFACES = {
    "abi": ("libmpi_abi.so.1",),
    "mpich": ("libmpi.so.12", "libmpich.so.12"),
    "openmpi": ("libmpi.so.40",),
}


def _open(file: Optional[str], mode: int = 0) -> Optional[ctypes.CDLL]:
    try:
        return ctypes.CDLL(file, mode=mode | os.RTLD_LAZY)
    except OSError:
        return None


def _interface(library: ctypes.CDLL) -> Optional[str]:
    """Asks the library itself: names are links that may lead anywhere."""
    if not hasattr(library, "MPI_Get_version"):
        return None
    if hasattr(library, "MPI_Abi_get_version"):
        major, minor = ctypes.c_int(0), ctypes.c_int(0)
        library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor))
        if major.value > 0:
            return "abi"
    return "openmpi" if hasattr(library, "ompi_mpi_comm_world") else "mpich"


def _loaded() -> Optional[Tuple[str, str]]:
    """The MPI that this process has, by LD_PRELOAD or by another module: its interface and its name."""
    for names in INTERFACES.values():
        for name in names:
            library = _open(name, os.RTLD_NOLOAD)
            interface = _interface(library) if library else None
            if interface:
                return interface, name
    return None


def _of_mpi4py() -> Optional[Tuple[str, str]]:
    """The MPI that mpi4py loads when it is imported. Opening its module as a file loads MPI and initialises nothing."""
    try:
        spec = importlib.util.find_spec("mpi4py.MPI")
    except Exception:  # absent, or it has found no MPI
        return None
    library = _open(spec.origin) if spec and spec.origin else None
    interface = _interface(library) if library else None
    return (interface, str(spec.origin)) if spec and interface else None


def _launched_for() -> List[str]:
    """The interfaces of the launcher's own MPI, the same on all ranks; empty if it does not tell."""
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        return ["openmpi"]
    if "PMI_RANK" in os.environ or "PMI_FD" in os.environ:
        return ["abi", "mpich"]
    return []


def _candidates(interfaces: List[str]) -> Iterator[str]:
    """Files of MPIs: those of the launcher first, those of this environment before those of the system."""
    prefixes = [sys.prefix, *([site.getuserbase()] if site.ENABLE_USER_SITE else [])]
    folders = [os.path.join(prefix, "lib") for prefix in prefixes]
    launched = [each for each in _launched_for() if each in interfaces]
    for group in (launched, [each for each in interfaces if each not in launched]):
        for folder in [*folders, ""]:
            for interface in group:
                for name in INTERFACES[interface]:
                    if not folder or os.path.exists(os.path.join(folder, name)):
                        yield os.path.join(folder, name)


def _found(interfaces: List[str]) -> Optional[Tuple[str, str]]:
    for file in _candidates(interfaces):
        library = _open(file)
        interface = _interface(library) if library else None
        if interface in interfaces:
            return interface, file
    return None


def choose(package: str) -> Optional[str]:
    """Loads the MPI of this process and returns the folder with Tutti for it; None where the package has no folders.

    Takes the MPI that the process has loaded already, else that of mpi4py where it is installed, else the first that is
    found. Starts no MPI. Raises ImportError if there is none.
    """
    here = [each for each in INTERFACES if os.path.isdir(os.path.join(package, each))]
    if not here:
        return None
    names = ", ".join(name for each in here for name in INTERFACES[each])
    remedy = "load one by its package or module, name its folder by LD_LIBRARY_PATH, or run: python -m pip install mpich"
    mpi = _loaded() or _of_mpi4py() or _found(here)
    if mpi is None:
        raise ImportError(f"tutti: no MPI was found, neither in {sys.prefix}/lib nor by the loader ({names}); {remedy}")
    interface, file = mpi
    if interface not in here:
        raise ImportError(f"tutti: {file} has the interface '{interface}', and this wheel is for {', '.join(here)}; {remedy}")
    folder = os.path.join(package, interface)
    _name(file, folder, INTERFACES[interface][0])
    return folder


def _name(file: str, folder: str, wanted: str) -> None:
    """Lets what needs the file `wanted` take an MPI that is there under another name, such as Debian's libmpich.so.12: an
    empty library of that name satisfies the loader, and the functions come from the MPI, which all can see from now on."""
    if _open(wanted, os.RTLD_NOLOAD) is None:
        _open(file, os.RTLD_GLOBAL)
        _open(os.path.join(folder, "lib", "named", wanted))
