# SPDX-License-Identifier: BSD-3-Clause
"""python -m tutti.torch.build: compiles the process group for this Python and its PyTorch.

For a package that was installed where PyTorch was not, or after PyTorch has been replaced by another version.
"""

import argparse
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import List

import tutti

# Of a wheel for every MPI: the compilers that may belong to an interface, the surest first.
_COMPILERS = {"abi": ["mpicc_abi"], "mpich": ["mpicc.mpich", "mpicc"], "openmpi": ["mpicc.openmpi", "mpicc"]}


def _package() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parent.parent


def _held() -> List[pathlib.Path]:
    """The folder of the library that the package holds for the MPI of this environment, if it does."""
    folder = pathlib.Path(tutti.__path__[0])
    return [folder] if (folder / "lib" / "cmake").is_dir() else []


def _mpi(interface: str) -> List[str]:
    """Options that name the compiler of that MPI: of this environment, or of PATH."""
    path = os.path.join(sys.prefix, "bin") + os.pathsep + os.environ.get("PATH", "")
    found = [file for file in (shutil.which(name, path=path) for name in _COMPILERS[interface]) if file]
    if not found:
        sys.exit(f"tutti.torch.build: no {' or '.join(_COMPILERS[interface])} is in PATH, and the process group needs the "
                 f"headers of the MPI that tutti uses here ('{interface}')")
    return [f"-DMPI_C_COMPILER={found[0]}"]


def _sources() -> pathlib.Path:
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here / "native", _package().parent / "torch"):
        if (folder / "CMakeLists.txt").exists():
            return folder
    sys.exit("tutti.torch.build: this package has no sources of the process group; install it again by pip")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tutti.torch.build", description=__doc__.split("\n")[0])
    parser.add_argument("--tutti", help="folder of the library, built or installed (CMAKE_PREFIX_PATH otherwise)")
    parser.add_argument("--into", type=pathlib.Path, help="folder of the package that gets the module")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        sys.exit(f"tutti.torch.build: {sys.executable} has no PyTorch; install it first (pip install torch)")
    held = [] if arguments.tutti else _held()
    into = arguments.into or (held[0] if held else pathlib.Path(os.path.dirname(os.path.abspath(__file__))).parent)
    with tempfile.TemporaryDirectory() as build:
        configure = ["cmake", "-S", str(_sources()), "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                     f"-DPython_EXECUTABLE={sys.executable}", "-DTUTTI_TORCH_DESTINATION=."]
        for library in [os.path.abspath(arguments.tutti)] if arguments.tutti else held:
            configure.append(f"-DCMAKE_PREFIX_PATH={library}")
        for folder in held:
            configure += _mpi(folder.name)
        for command in (configure, ["cmake", "--build", build], ["cmake", "--install", build, "--prefix", str(into)]):
            if subprocess.run(command, check=False).returncode != 0:
                sys.exit(f"tutti.torch.build: failed: {' '.join(command)}")
    print(f"tutti.torch.build: built tutti._torch into {into}")


if __name__ == "__main__":
    main()
