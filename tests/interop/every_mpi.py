# SPDX-License-Identifier: BSD-3-Clause
"""Programs that were built once against the ABI of MPI 5, on several MPIs: Tutti's own tests of libtutti-mpi and
MPICH's tests of collectives, a row of the table for each MPI."""
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

import mpich
from job import SKIPPED, Job

PROGRAMS = ["early", "moving", "neighborhood", "reducing", "requests", "misuse"]
NAMES = [(r"MPICH Version:\s*(\S+)", "MPICH"), (r"Intel\(R\) MPI Library ([\d.]+?)(\.0)? ", "Intel MPI"),
         (r"Open MPI v([^\s,]+)", "Open MPI")]
# In a process of its own: one process has one MPI.
ASK = ("import ctypes; text = ctypes.create_string_buffer(8192);"
       "ctypes.CDLL('libmpi_abi.so.1').MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()));"
       "print(text.value.decode())")
# One machine; Open MPI counts its cores and asks who is root.
ENVIRONMENT = {"I_MPI_FABRICS": "shm", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_osc": "^ucx",
               "PRTE_MCA_hwloc_default_binding_policy": "none", "TUTTI_CALIBRATION": "off",
               "TUTTI_TUNING": "off", "GTEST_COLOR": "no"}


def judge(output):
    if output.code == 77:
        return SKIPPED
    if output.code != 0:
        return f"ended with {output.code}"
    tests = re.search(r"\[  PASSED  \] ([1-9]\d*) test", output.text)
    return "" if tests and "all ranks passed" in output.text else "its own end marker is missing, or no test ran"


def find(options):
    programs = options.library.parent.parent / "tests"
    if options.library.name != "libtutti-mpi-abi.so":
        return "name the libtutti-mpi-abi.so of a build with TUTTI_MPI_ABI=ON by --library"
    if not options.mpis:
        return "name prefixes of MPIs (bin/mpiexec, lib/libmpi_abi.so.1) by --mpis"
    if not (programs / "mpi_preload_moving").exists():
        return f"no mpi_preload_moving in {programs}: build its tests"
    others = mpich.find_coll(options)
    if isinstance(others, str):
        print(f"SKIPPED: MPICH's tests for the ABI: {others}", flush=True)
        others = []
    return [job for prefix in options.mpis for job in jobs_on(prefix, programs, others, options.ranks or [2])]


def jobs_on(prefix, programs, others, rank_numbers):
    environment = {"LD_LIBRARY_PATH": prefix / "lib"}
    launcher = ["env", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), prefix / "bin" / "mpiexec"]
    name = name_of(prefix)
    for program in PROGRAMS:
        path = programs / f"mpi_preload_{program}"
        for test in tests_of(path, prefix):
            more = {"TUTTI_TEST_THREADS": "multiple"} if test.startswith("Threads.") else {}
            for ranks in rank_numbers:
                yield Job(name, test, ranks, [path, f"--gtest_filter={test}:{test}/*"], judge,
                          environment=environment | more, launcher=launcher, needs_library=True)
    for job in others:
        yield dataclasses.replace(job, suite=f"{name}: MPICH coll", launcher=launcher,
                                  environment=job.environment | environment)


def said_by(command, prefix):
    environment = os.environ | {name: str(value) for name, value in ENVIRONMENT.items()}
    return subprocess.run(command, env=environment | {"LD_LIBRARY_PATH": str(prefix / "lib")}, check=True,
                          capture_output=True, text=True).stdout


def name_of(prefix):
    """The MPI's own name for itself."""
    return name_in(said_by([sys.executable, "-c", ASK], prefix), prefix)


def name_in(text, prefix):
    name = next((f"{word} {found.group(1)}" for pattern, word in NAMES if (found := re.search(pattern, text))),
                prefix.name)
    return name + (", by mpi_abi_wrapper" if (prefix / "lib" / "libmpiwrapper.so").exists() else "")


def tests_of(path: pathlib.Path, prefix):
    """The names of a GoogleTest program's tests, all parameters of one together."""
    suite, found = "", []
    for line in said_by([prefix / "bin" / "mpiexec", "-n", "1", path, "--gtest_list_tests"], prefix).splitlines():
        if re.match(r"^\S+\.( |$)", line):
            suite = line.split()[0]
        elif suite and re.match(r"^  \S", line):
            found.append(suite + line.split()[0].split("/")[0])
    return list(dict.fromkeys(found))
