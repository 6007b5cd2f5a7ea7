#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""By hand: the cost of a call from Python. mpiexec -n 2 python3 tests/python/overhead.py; compare it with
mpiexec -n 2 tutti-commbench -t int32 --high 4 -a auto, which calls the same from C++."""

import statistics
import time

import numpy as np

import tutti

comm = tutti.world()
x, y = np.ones(1, np.int32), np.zeros(1, np.int32)
again = comm.allreduce_init(x, y)
batch = 200


def start_and_wait():
    again.start()
    again.wait()


cases = {
    "allreduce of 4 bytes": lambda: comm.allreduce(x, y),
    "the same in place": lambda: comm.allreduce(y, op=tutti.MAX),
    "iallreduce and wait": lambda: comm.iallreduce(x, y).wait(),
    "start and wait": start_and_wait,
    "barrier": comm.barrier,
}
try:
    import torch
except ImportError:
    pass
else:
    a, b = torch.ones(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    cases["allreduce of 4 bytes in tensors of PyTorch"] = lambda: comm.allreduce(a, b)
for name, call in cases.items():
    times = []
    for _ in range(250):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch * 1e6)
    best = comm.allreduce_value(min(times), "max")
    middle = comm.allreduce_value(statistics.median(times), "max")
    if comm.rank == 0:
        print(f"{name}: {best:.2f} us at best, {middle:.2f} us in the median of batches of {batch}")
