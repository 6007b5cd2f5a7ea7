#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""By hand: the cost of a call from Python. mpiexec -n 2 python3 tests/python/overhead.py; compare it with
mpiexec -n 2 tutti-commbench -t int32 --high 4 -a auto, which calls the same from C++. Where PyTorch is installed, also
that of torch.distributed, beside a backend of PyTorch's that moves nothing."""

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


def measure(name, call):
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


def measure_process_groups():
    try:
        import torch
        import torch.distributed as dist
        from torch.testing._internal.distributed.fake_pg import FakeStore

        import tutti.torch  # noqa: F401
    except ImportError as error:
        if comm.rank == 0:
            print(f"skipped: {error}")
        return
    a, b = torch.ones(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    measure("allreduce of 4 bytes in tensors of PyTorch", lambda: comm.allreduce(a, b))
    for backend, options in (("tutti", {}), ("fake", {"store": FakeStore(), "rank": 0, "world_size": 2})):
        dist.init_process_group(backend, **options)
        measure(f"torch.distributed.all_reduce of 4 bytes, backend {backend}", lambda: dist.all_reduce(a))
        dist.destroy_process_group()


for name, call in cases.items():
    measure(name, call)
measure_process_groups()
