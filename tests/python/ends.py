#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How jobs of Python end: ends.py LAUNCHER... -n. A job with an exception on one rank ends with its text and an error
though other ranks wait for it; other jobs end well, whatever they have left behind."""

import subprocess
import sys

try:
    import numpy  # noqa: F401
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

cases = {
    "an exception on one rank": ("""
import numpy, tutti
comm = tutti.world()
if comm.rank == 1:
    raise ValueError("rank 1 has had enough")
comm.allreduce(numpy.ones(3))
""", "rank 1 has had enough"),
    "nothing freed, requests dropped": ("""
import numpy, tutti
comm = tutti.world()
parts = [comm.dup(), comm.split(comm.rank)]
reducer = tutti.GradientReducer(comm)
server = tutti.ParameterServer(comm, 4, 2)
comm.iallreduce(numpy.ones(100000))
again = comm.allreduce_init(numpy.ones(3))
comm.barrier()
print("the end")
""", None),
    "no communicator": ("import tutti; print(tutti.version())", None),
    "MPI started, nothing else": ("import tutti; tutti.init()", None),
    "an exit status": ("import sys, tutti; tutti.world(); sys.exit(0)", None),
    "mpi4py ends MPI": ("""
try:
    from mpi4py import MPI
except (ImportError, RuntimeError):
    raise SystemExit(0)
import numpy, tutti
comm = tutti.Communicator(MPI.COMM_WORLD)
server = tutti.ParameterServer(comm, 4, 2)
assert comm.allreduce_value(1) == 2
""", None),
}

failed = 0
for name, (text, words) in cases.items():
    job = subprocess.run([*sys.argv[1:], "2", sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    said = job.stdout + job.stderr
    good = (job.returncode != 0 and words in said) if words else job.returncode == 0
    print(f"{name}: {'ok' if good else f'FAILED with status {job.returncode}: {said}'}")
    failed += not good
sys.exit(1 if failed else 0)
