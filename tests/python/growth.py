#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""By hand: memory does not grow. mpiexec -n 2 python3 tests/python/growth.py [CALLS [SPLITS]]"""

import resource
import sys
import time

import numpy as np

import tutti

calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
splits = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
comm = tutti.world()


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def measure(name, count, step):
    for i in range(count // 10):
        step(i)
    before, start = resident(), time.perf_counter()
    for i in range(count):
        step(i)
    seconds = time.perf_counter() - start
    grown = int(comm.allreduce_value(resident() - before, "max"))
    if comm.rank == 0:
        print(f"{name}: {count} in {seconds:.1f} s, grown by {grown} KiB", flush=True)
    return grown


x, y = np.ones(1, np.int32), np.zeros(1, np.int32)


def requests(_):
    comm.iallreduce(x, y).wait()


def dropped(_):
    comm.iallreduce(x.copy(), y.copy())
    comm.barrier()


def errors(_):
    try:
        comm.allreduce(x, b"1234")
    except tutti.Error:
        pass


def split(i):
    with comm.split((comm.rank + i) % 2) as part:
        part.allreduce(y)


grown = [
    measure("allreduce", calls, lambda _: comm.allreduce(x, y)),
    measure("iallreduce", calls // 10, requests),
    measure("dropped requests", calls // 100, dropped),
    measure("errors", calls // 10, errors),
    measure("splits", splits, split),
]
sys.exit(1 if max(grown) > 1024 else 0)
