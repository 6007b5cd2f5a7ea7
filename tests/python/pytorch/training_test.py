# SPDX-License-Identifier: BSD-3-Clause
"""DDP, FSDP, DeviceMesh and functional collectives, against the same steps in one process."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)).double()


def batches(rank, size, steps=4):
    generator = torch.Generator().manual_seed(2)
    for _ in range(steps):
        yield torch.randn(size, 3, 6, generator=generator, dtype=torch.float64)


def train(model, take):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for batch in take:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


def reference(rank, size):
    model = network()
    train(model, (batch.flatten(0, 1) for batch in batches(rank, size)))
    return model


def near(model, right, tolerance=1e-12):
    for found, expected in zip(model.parameters(), right.parameters()):
        found = found.full_tensor() if hasattr(found, "full_tensor") else found
        assert torch.allclose(found, expected, rtol=tolerance, atol=tolerance), (found - expected).abs().max()


def test_ddp(rank, size):
    model = DistributedDataParallel(network(), bucket_cap_mb=0.0005)
    train(model, (batch[rank] for batch in batches(rank, size)))
    near(model, reference(rank, size))


def test_ddp_hooks(rank, size):
    from tutti.torch import hooks

    for hook in (hooks.bf16, hooks.fp16):
        model = DistributedDataParallel(network())
        model.register_comm_hook(None, hook)
        train(model, (batch[rank] for batch in batches(rank, size)))
        near(model, reference(rank, size), 0.02)


def with_power_sgd(take, resume=None, **options):
    from tutti.torch import hooks

    model = DistributedDataParallel(network(), bucket_cap_mb=0.0005)
    state = hooks.PowerSgd(**options)
    if resume is not None:
        model.module.load_state_dict(resume[0])
        state.load_state_dict(resume[1])
    model.register_comm_hook(state, hooks.power_sgd)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in take:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    return model, state


def mine(rank, size, steps=4):
    return [batch[rank] for batch in batches(rank, size, steps)]


def test_power_sgd_of_full_rank(rank, size):
    model, _ = with_power_sgd(mine(rank, size), rank=16, start_step=1, min_compression_rate=0.01)
    right = network()
    optimizer = torch.optim.SGD(right.parameters(), lr=0.1)
    for batch in batches(rank, size):
        optimizer.zero_grad()
        right(batch.flatten(0, 1)).square().mean().backward()
        optimizer.step()
    near(model, right)


def test_power_sgd_of_rank_1(rank, size):
    options = {"rank": 1, "start_step": 2, "min_compression_rate": 1.0}
    take = mine(rank, size, 60)
    model, state = with_power_sgd(take, **options)
    assert any(kept.error.any() for kept in state._factors.values())
    assert len(state._factors) == 2, "the two matrices are compressed, the biases are not"
    start = network()
    loss, first = (sum(net(batch).square().mean().item() for batch in take) for net in (model, start))
    assert loss < 0.2 * first, (loss, first)
    for parameter in model.parameters():
        whole = [torch.empty_like(parameter.data) for _ in range(size)]
        dist.all_gather(whole, parameter.data)
        assert all(torch.equal(other, whole[0]) for other in whole), "ranks have other parameters"


def test_power_sgd_goes_on(rank, size):
    options = {"rank": 1, "start_step": 1, "min_compression_rate": 1.0}
    take = mine(rank, size, 6)
    right, _ = with_power_sgd(take, **options)
    half, state = with_power_sgd(take[:3], **options)
    model, _ = with_power_sgd(take[3:], (half.module.state_dict(), state.state_dict()), **options)
    near(model, right)


def test_power_sgd_after_nan(rank, size):
    take = mine(rank, size, 4)
    model, state = with_power_sgd(take[:2], rank=1, start_step=0, min_compression_rate=1.0)
    broken = take[2].clone()
    broken[0, 0] = float("nan") if rank == size - 1 else 1.0
    model.zero_grad()
    model(broken).square().mean().backward()
    assert all(parameter.grad.isnan().any() for parameter in model.parameters())
    model.zero_grad()
    model(take[3]).square().mean().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_power_sgd_of_pytorch(rank, size):
    """Its callbacks make calls and wait for them."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    model = DistributedDataParallel(network(), bucket_cap_mb=0.0005)
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=16, start_powerSGD_iter=2,
                                        min_compression_rate=0.01)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    train(model, mine(rank, size))
    near(model, reference(rank, size), 1e-6)


def test_fully_shard(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = network()
    fully_shard(model, mesh=init_device_mesh("cpu", (size,)))
    train(model, (batch[rank] for batch in batches(rank, size)))
    near(model, reference(rank, size))


def test_device_mesh(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (1, size), mesh_dim_names=("replicas", "parts"))
    whole = torch.arange(4.0 * size).reshape(2 * size, 2)
    assert torch.equal(distribute_tensor(whole, mesh["parts"], [Shard(0)]).full_tensor(), whole)


def test_functional_collectives(rank, size):
    import torch.distributed._functional_collectives as functional

    group = dist.group.WORLD
    x = torch.full((size, 2), rank + 1.0)
    total = size * (size + 1) / 2
    assert torch.equal(functional.all_reduce(x, "sum", group), torch.full((size, 2), total))
    assert functional.wait_tensor(functional.all_gather_tensor(x, 0, group)).shape == (size * size, 2)
    assert torch.equal(functional.reduce_scatter_tensor(x, "sum", 0, group), torch.full((1, 2), total))
    assert torch.equal(functional.all_to_all_single(x, [1] * size, [1] * size, group)[:, 0], torch.arange(1.0, size + 1))


def test_compiled_collectives(rank, size):
    import torch.distributed._functional_collectives as functional

    @torch.compile(backend="aot_eager", fullgraph=True)
    def step(x):
        return functional.all_reduce(x * 2, "sum", dist.group.WORLD) + 1

    assert torch.equal(step(torch.full((3,), rank + 1.0)), torch.full((3,), size * (size + 1.0) + 1))
