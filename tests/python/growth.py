#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Long loops leave nothing behind: no private memory, no descriptors, no names in /dev/shm.

mpiexec -n 2 python3 tests/python/growth.py [CALLS [SPLITS]]: 20000 calls and 300 communicators by default, as in the
tests; by hand 1000000 and 10000. Process groups of PyTorch are made too where the package has them. Ends with 77 where
NumPy is absent.
"""

import importlib.util
import os
import sys
import time

try:
    import numpy as np
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import tutti

calls = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
splits = int(sys.argv[2]) if len(sys.argv) > 2 else 300
comm = tutti.world()


def private():
    """Memory of this process alone, in KiB; pages that ranks share are not in it."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))


def names():
    return {name for name in os.listdir("/dev/shm") if name.startswith("tutti-")}


def of_others():
    """Names that processes of other jobs have mapped."""
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        if int(process) in ranks:
            continue
        try:
            with open(f"/proc/{process}/maps", encoding="utf-8") as file:
                found |= {line.split("/dev/shm/")[1].split()[0] for line in file if "/dev/shm/" in line}
        except OSError:
            pass  # it has ended
    return found


def left(before):
    """Names that have come since and stay; those of other jobs come and go meanwhile."""
    new = names() - before
    for _ in range(5):
        if not new:
            break
        time.sleep(0.1)
        new &= names() - of_others()
    return len(new)


ranks = np.zeros(comm.size, np.int64)
comm.allgather(np.array([os.getpid()]), ranks)
ranks = set(ranks.tolist())
ALLOWED = {"KiB": 1024, "descriptors": 0, "names": 0}


def measure(name, count, step, more=0):
    """Returns what has grown beyond what is allowed, with `more` bytes a step. A tenth of the steps comes first: pools
    fill."""
    for i in range(max(10, count // 10)):
        step(i)
    comm.barrier()
    memory, descriptors, known = private(), len(os.listdir("/proc/self/fd")), names()
    start = time.perf_counter()
    for i in range(count):
        step(i)
    comm.barrier()
    seconds = time.perf_counter() - start
    grown = {"KiB": private() - memory, "descriptors": len(os.listdir("/proc/self/fd")) - descriptors,
             "names": left(known)}
    grown = {what: int(comm.allreduce_value(number, "max")) for what, number in grown.items()}
    if comm.rank == 0:
        text = ", ".join(f"{number} {what}" for what, number in grown.items())
        print(f"{name}: {count} in {seconds:.1f} s, grown by {text}", flush=True)
    allowed = {**ALLOWED, "KiB": ALLOWED["KiB"] + (more * count >> 10)}
    return [f"{name}: {what}" for what in ALLOWED if grown[what] > allowed[what]]


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


def process_groups():
    """Makes, uses and destroys groups of torch.distributed."""
    import torch
    import torch.distributed as dist

    import tutti.torch  # noqa: F401

    dist.init_process_group("tutti")
    tensor = torch.ones(1)

    def collective(_):
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)

    def asynchronous(_):
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, async_op=True).wait()

    def group(_):
        part = dist.new_group()
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=part)
        dist.destroy_process_group(part)

    found = measure("torch all_reduce", calls, collective) + measure("torch async_op", calls // 10, asynchronous)
    # A group of tutti's leaves some 170 bytes, one of gloo's 1.3 to 2 KiB.
    found += measure("torch groups", splits, group, more=256)
    dist.destroy_process_group()
    return found


grown = [
    *measure("allreduce", calls, lambda _: comm.allreduce(x, y)),
    *measure("iallreduce", calls // 10, requests),
    *measure("dropped requests", calls // 100, dropped),
    *measure("errors", calls // 10, errors),
    *measure("splits", splits, split),
]
if importlib.util.find_spec("torch") and importlib.util.find_spec("tutti._torch"):
    grown += process_groups()
if comm.rank == 0 and grown:
    print("grown: " + "; ".join(grown))
sys.exit(1 if grown else 0)
