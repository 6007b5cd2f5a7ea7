#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares tutti with gloo in one run: mpiexec -n 2 python3 bench.py [--seconds 40] [--largest 67108864].

Each cell alternates the backends call by call and prints the medians of both in microseconds and gloo / tutti.
"""

import argparse
import math
import os
import statistics
import time

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

import tutti.torch  # noqa: E402,F401


def operations(size, nbytes):
    """Calls on tensors of nbytes in all, by name."""
    count = max(1, nbytes // 4)
    each = max(1, count // size)
    whole, part, other = torch.ones(each * size), torch.ones(each), torch.ones(each * size)
    x = torch.ones(count)
    return {
        "all_reduce": lambda group: dist.all_reduce(x, op=dist.ReduceOp.MAX, group=group),
        "broadcast": lambda group: dist.broadcast(x, 0, group=group),
        "all_gather": lambda group: dist.all_gather_into_tensor(whole, part, group=group),
        "reduce_scatter": lambda group: dist.reduce_scatter_tensor(part, whole, group=group),
        "all_to_all": lambda group: dist.all_to_all_single(other, whole, group=group),
    }


def measure(call, groups, repeats):
    times = {name: [] for name in groups}
    for repeat in range(repeats + 2):
        for name, group in groups.items():
            dist.barrier(group=group)
            start = time.perf_counter()
            call(group)
            took = torch.tensor(time.perf_counter() - start, dtype=torch.float64)
            dist.all_reduce(took, op=dist.ReduceOp.MAX, group=groups["tutti"])
            if repeat > 1:
                times[name].append(took.item() * 1e6)
    return {name: statistics.median(found) for name, found in times.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--largest", type=int, default=64 << 20)
    arguments = parser.parse_args()
    dist.init_process_group("tutti")
    torch.set_num_threads(1)
    groups = {"tutti": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    rank, size = dist.get_rank(), dist.get_world_size()
    sizes = [4]
    while sizes[-1] * 16 <= arguments.largest:
        sizes.append(sizes[-1] * 16)
    cells = [(name, nbytes) for nbytes in sizes for name in operations(size, 4)]
    ratios = []
    if rank == 0:
        print(f"PyTorch {torch.__version__}, {size} processes\n\n| call | bytes | tutti us | gloo us | gloo / tutti |\n"
              "|---|---|---|---|---|")
    for name, nbytes in cells:
        call = operations(size, nbytes)[name]
        once = measure(call, groups, 3)
        budget = torch.tensor(arguments.seconds / len(cells) / (sum(once.values()) * 1e-6 + 1e-3))
        dist.broadcast(budget, 0)
        found = measure(call, groups, max(5, min(300, int(budget))))
        ratios.append(found["gloo"] / found["tutti"])
        if rank == 0:
            print(f"| {name} | {nbytes} | {found['tutti']:.1f} | {found['gloo']:.1f} | {ratios[-1]:.2f} |", flush=True)
    if rank == 0:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nGeometric mean {mean:.2f}, least {min(ratios):.2f}.")
    dist.destroy_process_group()


main()
