#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a wheel for several MPIs takes: mpi_choice.py SOURCES WORK. The MPIs are stand-ins, small libraries with the
names and the marks of real ones, and the module is one that says which of them it has reached. Ends with 77 without a C
compiler."""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

sources, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
tutti = sources / "bindings" / "python" / "tutti"
sys.dont_write_bytecode = True
sys.path.insert(0, str(tutti))
from _mpi import INTERFACES  # noqa: E402

MARKS = {"abi": "int MPI_Abi_get_version(int *a, int *b) { *b = 0; return (*a = 1) - 1; }",
         "mpich": "int MPI_Abi_get_version(int *a, int *b) { return *a = *b = 0; }",
         "openmpi": "int ompi_mpi_comm_world;"}
ASK = """
import ctypes, os, sys
sys.prefix = os.environ.get("PREFIX", "/none")
import _mpi
if "NOTHING_FOUND" in os.environ: _mpi._candidates = lambda interfaces: iter(())
folder = _mpi.choose(os.environ["PACKAGE"])
print(folder and os.path.basename(folder), folder and ctypes.CDLL(folder + "/module.so").reached())
"""


def compiled(file, text, *words):
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", str(file), *map(str, words)],
                   input=text, text=True, check=True)
    return file


def stand_in(file, interface, number, soname=None):
    text = f"int MPI_Get_version(int *a, int *b) {{ return *a = *b = {number}; }}\n{MARKS[interface]}"
    return compiled(file, text, f"-Wl,-soname,{soname or file.name}")


def package(folder, interfaces):
    """Modules that call what the first file of their interface has."""
    for interface in interfaces:
        wanted = INTERFACES[interface][0]
        named = compiled(folder / interface / "lib" / "named" / wanted, "", f"-Wl,-soname,{wanted}")
        compiled(folder / interface / "module.so",
                 "int MPI_Get_version(int *, int *); int reached(void) { int a, b; return MPI_Get_version(&a, &b); }",
                 "-Wl,--no-as-needed", named)
    return folder


def said(where, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PMI_", "PMIX_", "OMPI_", "LD_", "PYTHON"))}
    environment.update(PACKAGE=str(where), PYTHONPATH=str(tutti), PYTHONDONTWRITEBYTECODE="1")
    environment.update({name: str(value) for name, value in variables.items()})
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, timeout=60)
    return (done.stdout + done.stderr).strip()


def mpi4py_for(mpi):
    """A package whose module loads the MPI of a file, as mpi4py's does."""
    folder = work / "packages" / "mpi4py"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    compiled(folder / f"MPI{sysconfig.get_config_var('EXT_SUFFIX')}", "int unused;", "-Wl,--no-as-needed", mpi,
             f"-Wl,-rpath,{mpi.parent}")
    return folder.parent


def main():
    if shutil.which("cc") is None:
        print("SKIPPED: no C compiler")
        sys.exit(77)
    shutil.rmtree(work, ignore_errors=True)
    every = package(work / "every", INTERFACES)
    one, few = package(work / "one", ["mpich"]), package(work / "few", ["abi", "mpich"])
    (work / "none").mkdir()
    all_mpis = work / "all"
    for number, (interface, names) in enumerate(INTERFACES.items(), 1):
        stand_in(all_mpis / names[0], interface, number)
    openmpi = stand_in(work / "venv" / "lib" / "libmpi.so.40", "openmpi", 4)
    stand_in(work / "debian" / "lib" / "libmpich.so.12", "mpich", 5)
    packages = mpi4py_for(stand_in(work / "vendor" / "libmpi_vendor.so.12", "mpich", 6))
    path = f"{tutti}:{packages}"

    cases = [
        ("the one of the environment", said(every, PREFIX=work / "venv", LD_LIBRARY_PATH=all_mpis), "openmpi 4"),
        ("the first of several", said(every, LD_LIBRARY_PATH=all_mpis), "abi 1"),
        ("a launcher of MPICH", said(every, LD_LIBRARY_PATH=all_mpis, PMI_RANK=0), "abi 1"),
        ("a launcher of Open MPI", said(every, LD_LIBRARY_PATH=all_mpis, OMPI_COMM_WORLD_RANK=0), "openmpi 3"),
        ("a launcher before the environment",
         said(every, LD_LIBRARY_PATH=all_mpis, PREFIX=work / "venv", PMI_RANK=0), "abi 1"),
        ("another name", said(every, PREFIX=work / "debian"), "mpich 5"),
        ("one that is loaded", said(every, LD_LIBRARY_PATH=all_mpis, LD_PRELOAD=openmpi), "openmpi 4"),
        ("that of mpi4py", said(every, LD_LIBRARY_PATH=all_mpis, PYTHONPATH=path), "mpich 6"),
        ("a package without folders", said(work / "none", LD_LIBRARY_PATH=all_mpis), "None None"),
        ("none at all", said(every, NOTHING_FOUND=1), "no MPI was found"),
        ("the first that the wheel is for", said(one, LD_LIBRARY_PATH=all_mpis), "mpich 2"),
        ("one that the wheel is not for", said(few, LD_PRELOAD=openmpi), "this wheel is for abi, mpich"),
    ]
    failed = [f"{name}: '{got}', wanted '{wanted}'" for name, got, wanted in cases if wanted not in got]
    print("\n".join(failed) or f"{len(cases)} choices")
    sys.exit(1 if failed else 0)


main()
