#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The communication that DDP leaves exposed on tutti and on gloo, in one run: mpiexec -n 2 python3 ddp_bench.py
[--model resnet50|bert] [--backward-ms MS] [--rounds N] [--bucket-mb MB] [--busy].

Gradients have the shapes of the model. Backward sleeps before each of them, for its share of --backward-ms by size, as
beside a GPU; with --busy it computes instead, so that communication takes its time from the processor. Each round makes
one step of the bare model, one of DDP whose buckets are not sent, one on tutti and one on gloo, and the last two again
with a hook that looks at the clock. Two medians: exposed is what a step takes longer than that of the bare model, with
DDP's own copies of gradients, which the second step shows alone, and the ranks' different speeds; waiting is the time
from the last bucket's all_reduce to the end of backward on the rank that comes last to it: communication only.
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
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import tutti.torch  # noqa: E402,F401


def resnet50():
    shapes, into = [[64, 3, 7, 7], [64], [64]], 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            layers = [[width, into, 1, 1], [width, width, 3, 3], [4 * width, width, 1, 1]]
            layers += [[4 * width, into, 1, 1]] if block == 0 else []
            for layer in layers:
                shapes += [layer, layer[:1], layer[:1]]
            into = 4 * width
    return [*shapes, [1000, into], [1000]]


def bert(layers=12, h=768, inner=3072, words=30522):
    shapes = [[words, h], [512, h], [2, h], [h], [h]]
    for _ in range(layers):
        shapes += [[h, h], [h]] * 4 + [[h], [h], [inner, h], [inner], [h, inner], [h], [h], [h]]
    return [*shapes, [h, h], [h]]


class Gradient(torch.autograd.Function):
    """Stands for a layer: its backward takes a while and hands out the gradient of its parameter."""

    @staticmethod
    def forward(ctx, x, parameter, gradient, seconds, busy):
        ctx.kept = gradient, seconds, busy
        return x.clone()

    @staticmethod
    def backward(ctx, of_x):
        gradient, seconds, busy = ctx.kept
        if busy:
            matrix, end = torch.ones(64, 64), time.perf_counter() + seconds
            while time.perf_counter() < end:
                matrix = matrix @ matrix * 1e-4
        else:
            time.sleep(seconds)
        return of_x, gradient, None, None, None


class Model(torch.nn.Module):
    def __init__(self, gradients, seconds, busy):
        super().__init__()
        self.parts = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients])
        self.layers, self.busy = list(zip(gradients, seconds)), busy

    def forward(self, x):
        for parameter, (gradient, seconds) in zip(self.parts, self.layers):
            x = Gradient.apply(x, parameter, gradient, seconds, self.busy)
        return x.sum()


def keep(_state, bucket):
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


class Watched:
    def __init__(self, group):
        self.group, self.last = group, 0.0


def average(watched, bucket):
    """As DDP does without a hook; notes when the last call was made."""
    watched.last = time.perf_counter()
    work = dist.all_reduce(bucket.buffer().div_(watched.group.size()), group=watched.group, async_op=True)
    return work.get_future().then(lambda done: done.value()[0])


def wrapped(gradients, seconds, group, arguments):
    return DistributedDataParallel(Model(gradients, seconds, arguments.busy), process_group=group,
                                   bucket_cap_mb=arguments.bucket_mb, gradient_as_bucket_view=True)


def step(model, watched=None):
    for parameter in model.parameters():
        parameter.grad = None
    dist.barrier()
    start = time.perf_counter()
    model(torch.ones(1, requires_grad=True)).backward()
    end = time.perf_counter()
    # The step of the slowest rank, and the wait of the rank that came last to the all_reduce.
    took = torch.tensor([end - start, (watched.last if watched else end) - end], dtype=torch.float64)
    dist.all_reduce(took, op=dist.ReduceOp.MAX)
    return [abs(value) * 1e3 for value in took.tolist()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=["resnet50", "bert"], default="resnet50")
    parser.add_argument("--backward-ms", type=float, default=400)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--bucket-mb", type=float, default=25)
    parser.add_argument("--busy", action="store_true")
    arguments = parser.parse_args()
    dist.init_process_group("tutti")
    torch.set_num_threads(1)
    rank, size = dist.get_rank(), dist.get_world_size()
    gradients = [torch.full(shape, rank + 1.0) for shape in {"resnet50": resnet50, "bert": bert}[arguments.model]()]
    total = sum(gradient.numel() for gradient in gradients)
    seconds = [arguments.backward_ms * 1e-3 * gradient.numel() / total for gradient in gradients]
    groups = {"tutti": dist.group.WORLD, "gloo": dist.new_group(backend="gloo")}
    models = {"none": Model(gradients, seconds, arguments.busy)}
    for name, group in {"copies": dist.group.WORLD, **groups}.items():
        models[name] = wrapped(gradients, seconds, group, arguments)
    models["copies"].register_comm_hook(None, keep)
    watched = {f"{name}, watched": Watched(group) for name, group in groups.items()}
    for name, state in watched.items():
        models[name] = wrapped(gradients, seconds, state.group, arguments)
        models[name].register_comm_hook(state, average)
    found = [{name: step(model, watched.get(name)) for name, model in models.items()}
             for _ in range(arguments.rounds + 2)][2:]
    for name in groups:
        first = next(models[name].parameters()).grad
        assert math.isclose(first.view(-1)[0].item(), (size + 1) / 2), f"{name}: the average is wrong"
    exposed = {name: statistics.median(round[name][0] - round["none"][0] for round in found) for name in models}
    waiting = {name: statistics.median(round[f"{name}, watched"][1] for round in found) for name in groups}
    if rank == 0:
        print(f"{arguments.model}, {total * 4 / 1e6:.0f} MB, {size} ranks: without communication "
              f"{statistics.median(round['none'][0] for round in found):.1f} ms")
        print(f"  exposed: DDP's copies {exposed['copies']:.1f} ms, tutti {exposed['tutti']:.1f} ms, gloo "
              f"{exposed['gloo']:.1f} ms, tutti / gloo {exposed['tutti'] / exposed['gloo']:.3f}")
        print(f"  waiting: tutti {waiting['tutti']:.1f} ms, gloo {waiting['gloo']:.1f} ms, tutti / gloo "
              f"{waiting['tutti'] / waiting['gloo']:.3f}")
    dist.destroy_process_group()


main()
