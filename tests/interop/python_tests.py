# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests, one program a test module. `run.py --get` brings wheel and sources into the folder."""
import pathlib
import re
import sys

from job import Job

VERSION = "4.1.2"
SHORT = re.compile(r"test_(cco_(buf|obj|vec|nb_buf|pr_buf)|op|comm|request)$")
# They start processes, which are then not under the launcher; or do nothing but write to the disk, for minutes.
LEFT_OUT = re.compile(r"test_(spawn|dynproc|io)$")


def judge(ranks):
    def judged(output):
        if output.code != 0:
            return f"ended with {output.code}"
        good = len(re.findall(r"Ran \d+ tests?", output.text))  # anywhere: ranks write into each other's lines
        return "" if good == ranks and output.text.count("OK") >= ranks else f"{good} of {ranks} ranks said OK"
    return judged


def find(options):
    package, tests = options.folder / "mpi4py", options.folder / f"mpi4py-{VERSION}" / "test"
    if not (package / "mpi4py").is_dir() or not tests.is_dir():
        return "not there: run.py --get brings mpi4py and its tests from PyPI"
    library = library_of(options)
    if library is None:
        return "no libmpich.so.12 to load as libmpi.so.12, or no libmpi.so.40"
    names = sorted(path.stem for path in tests.glob("test_*.py"))
    if options.set == "short":
        names = [name for name in names if SHORT.search(name)]
    return [job(name, ranks, package, tests, library) for name in names if not LEFT_OUT.search(name)
            for ranks in options.ranks or ([2] if options.set == "short" else [2, 3])]


def library_of(options):
    """The MPI's, under the name by which the wheel loads it."""
    if options.open_mpi:
        return next(pathlib.Path("/usr/lib").glob("*/libmpi.so.40"), None)
    return options.abi and options.abi / "libmpi.so.12"


def job(name, ranks, package, tests, library):
    command = [sys.executable, "-B", tests / "main.py", "--no-builddir", "--path", package, "-i", f"^{name}\\.py$"]
    return Job("mpi4py", name, ranks, command, judge(ranks), 600, folder=tests,
               environment={"MPI4PY_MPIABI": "openmpi" if library.name == "libmpi.so.40" else "mpich",
                            "LD_LIBRARY_PATH": library.parent}, mpi=library)
