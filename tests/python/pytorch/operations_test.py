# SPDX-License-Identifier: BSD-3-Clause
"""Every collective and message of torch.distributed, on exact data."""

import math

import torch
import torch.distributed as dist

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32,
         torch.int64, torch.complex64, torch.complex128]


# Renamed in PyTorch 2.14.
gather_whole = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
scatter_sums = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)


def same(found, expected):
    assert found.dtype == expected.dtype and torch.equal(found, expected), (found, expected)


def full(value, n=5, dtype=torch.float32):
    return torch.full((n,), value, dtype=dtype)


def test_all_reduce_of_all_types(rank, size):
    for dtype in TYPES:
        x = full(rank + 1, dtype=dtype)
        dist.all_reduce(x)
        same(x, full(size * (size + 1) // 2, dtype=dtype))
    x = torch.tensor([rank == 0, False, True])
    dist.all_reduce(x)
    same(x, torch.tensor([True, False, True]))
    dist.all_reduce(x, op=dist.ReduceOp.MIN)
    same(x, torch.tensor([True, False, True]))


def test_reductions(rank, size):
    values = [r + 1 for r in range(size)]
    bits = [values[0]] * 3
    for v in values[1:]:
        bits = [bits[0] & v, bits[1] | v, bits[2] ^ v]
    op = dist.ReduceOp
    for kind, expected in ((op.SUM, sum(values)), (op.PRODUCT, math.prod(values)), (op.MIN, 1), (op.MAX, size),
                           (op.BAND, bits[0]), (op.BOR, bits[1]), (op.BXOR, bits[2])):
        x = full(rank + 1, dtype=torch.int64)
        dist.all_reduce(x, op=kind)
        same(x, full(expected, dtype=torch.int64))
    x = full(rank + 1.0)
    dist.all_reduce(x, op=op.AVG)
    same(x, full(sum(values) / size))
    x = full(rank + 1.0)
    dist.all_reduce(x, op=dist._make_nccl_premul_sum(0.5))
    same(x, full(sum(values) / 2))


def test_not_contiguous(rank, size):
    x = torch.arange(12.0).reshape(3, 4).t()[::2]
    expected = x.clone() * size
    assert not x.is_contiguous()
    dist.all_reduce(x)
    same(x, expected)
    y = torch.zeros(4, 6)[:, ::3] + rank
    z = torch.full((4, 6), -1.0)[:, ::3]
    z.copy_(y)
    dist.broadcast(z, size - 1)
    same(z, torch.full((4, 2), float(size - 1)))


def test_broadcast_reduce(rank, size):
    for root in range(size):
        x = full(rank + 1)
        dist.broadcast(x, root)
        same(x, full(root + 1))
        x = full(rank + 1)
        dist.reduce(x, root)
        if rank == root:
            same(x, full(size * (size + 1) / 2))


def test_all_gather(rank, size):
    for dtype in TYPES + [torch.bool]:
        expected = [full(r % 2, dtype=dtype) for r in range(size)]
        parts = [full(0, dtype=dtype) for _ in range(size)]
        dist.all_gather(parts, full(rank % 2, dtype=dtype))
        for part, right in zip(parts, expected):
            same(part, right)
    whole = torch.empty(size * 5)
    gather_whole(whole, full(rank))
    same(whole, torch.cat([full(r) for r in range(size)]))
    parts = list(torch.empty(size * 5).chunk(size))
    dist.all_gather(parts, full(rank))
    same(torch.cat(parts), whole)


def test_uneven_all_gather(rank, size):
    parts = [torch.empty(r + 1) for r in range(size)]
    dist.all_gather(parts, full(rank, rank + 1))
    for r, part in enumerate(parts):
        same(part, full(r, r + 1))


def test_gather_scatter(rank, size):
    for root in range(size):
        parts = [torch.empty(5) for _ in range(size)] if rank == root else None
        dist.gather(full(rank), parts, dst=root)
        for r, part in enumerate(parts or []):
            same(part, full(r))
        x = torch.empty(5)
        dist.scatter(x, [full(10 * root + r) for r in range(size)] if rank == root else None, src=root)
        same(x, full(10 * root + rank))


def test_reduce_scatter(rank, size):
    total = size * (size + 1) / 2
    x = torch.empty(5)
    dist.reduce_scatter(x, [full((rank + 1) * (r + 1)) for r in range(size)])
    same(x, full(total * (rank + 1)))
    scatter_sums(x, torch.cat([full((rank + 1) * (r + 2)) for r in range(size)]))
    same(x, full(total * (rank + 2)))
    x = torch.empty(rank + 1)
    dist.reduce_scatter(x, [full(rank + 1, r + 1) for r in range(size)])
    same(x, full(total, rank + 1))


def test_all_to_all(rank, size):
    x = torch.cat([full(10 * rank + r, 2) for r in range(size)])
    y = torch.empty(2 * size)
    dist.all_to_all_single(y, x)
    same(y, torch.cat([full(10 * r + rank, 2) for r in range(size)]))
    sends = [rank + r + 1 for r in range(size)]
    x = torch.cat([torch.full((n, 3), 10.0 * rank + r) for r, n in enumerate(sends)])
    y = torch.empty(sum(sends), 3)
    dist.all_to_all_single(y, x, sends, sends)
    same(y, torch.cat([torch.full((n, 3), 10.0 * r + rank) for r, n in enumerate(sends)]))
    parts = [torch.empty(n) for n in sends]
    dist.all_to_all(parts, [full(10 * rank + r, n) for r, n in enumerate(sends)])
    for r, part in enumerate(parts):
        same(part, full(10 * r + rank, sends[r]))


def test_coalesced(rank, size):
    tensors = [full(rank + i, i + 1) for i in range(3)]
    with dist._coalescing_manager():
        for tensor in tensors:
            dist.all_reduce(tensor)
    for i, tensor in enumerate(tensors):
        same(tensor, full(size * (size - 1) / 2 + i * size, i + 1))
    wholes = [torch.empty(size * (i + 1)) for i in range(3)]
    with dist._coalescing_manager():
        for i, whole in enumerate(wholes):
            gather_whole(whole, full(rank + i, i + 1))
    for i, whole in enumerate(wholes):
        same(whole, torch.cat([full(r + i, i + 1) for r in range(size)]))
    parts = [torch.empty(i + 1) for i in range(3)]
    with dist._coalescing_manager():
        for i, part in enumerate(parts):
            scatter_sums(part, full(1, size * (i + 1)))
    for i, part in enumerate(parts):
        same(part, full(size, i + 1))


def test_messages(rank, size):
    right, left = (rank + 1) % size, (rank - 1) % size
    x = torch.empty(3)
    received = dist.irecv(x, left, tag=7)
    sent = dist.isend(full(rank, 3), right, tag=7)
    sent.wait(), received.wait()
    same(x, full(left, 3))
    y = torch.empty(4, 4)[:, 1]
    big = torch.empty(1 << 20)
    works = dist.batch_isend_irecv([
        dist.P2POp(dist.irecv, y, left), dist.P2POp(dist.irecv, big, left),
        dist.P2POp(dist.isend, full(rank, 4), right), dist.P2POp(dist.isend, full(rank, 1 << 20), right)])
    for work in works:
        work.wait()
    same(y, full(left, 4))
    same(big, full(left, 1 << 20))
    if rank == 0:
        sources = [dist.recv(torch.empty(2)) for _ in range(size - 1)]
        assert sorted(sources) == list(range(1, size)), sources
    else:
        dist.send(full(rank, 2), 0)


def test_async(rank, size):
    tensors = [full(rank + i, 100) for i in range(20)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    seen = []
    works[3].get_future().then(lambda future: seen.append(future.value()[0][0].item()))
    for work in reversed(works):
        work.wait()
        assert work.is_completed()
    for i, tensor in enumerate(tensors):
        same(tensor, full(size * (size - 1) / 2 + i * size, 100))
    x = full(rank)
    dist.all_reduce(x, async_op=True).get_future().wait()
    same(x, full(size * (size - 1) / 2))
    assert seen == [size * (size - 1) / 2 + 3 * size], seen


def test_forms_may_differ(rank, size):
    """A call is with async_op=True on some ranks and without it on others, as DDP's join makes it."""
    total = full(size * (size + 1) / 2)
    for async_op in (rank % 2 == 0, rank % 2 == 1):
        summed, sent, gathered, reduced = full(rank + 1.0), full(rank), torch.empty(5 * size), full(rank + 1.0)
        for work in (dist.all_reduce(summed, async_op=async_op), dist.broadcast(sent, size - 1, async_op=async_op),
                     gather_whole(gathered, full(rank), async_op=async_op),
                     dist.reduce(reduced, 0, async_op=async_op), dist.barrier(async_op=async_op)):
            if async_op:
                work.wait()
        same(summed, total)
        same(sent, full(size - 1))
        same(gathered, torch.cat([full(r) for r in range(size)]))
        assert rank != 0 or torch.equal(reduced, total), reduced


def test_subgroups(rank, size):
    for members in ([size - 1], list(range(0, size, 2)), list(range(size))[::-1]):
        group = dist.new_group(members)
        if rank in members:
            x = full(rank + 1)
            dist.all_reduce(x, group=group)
            same(x, full(sum(r + 1 for r in members)))
            dist.destroy_process_group(group)
    # Only the members take part.
    members = list(range(1, size)) if size > 1 else [0]
    if rank in members:
        group = dist.new_group(members, use_local_synchronization=True)
        x = full(rank)
        dist.broadcast(x, members[-1], group=group)
        same(x, full(members[-1]))
        dist.destroy_process_group(group)


def test_sparse(rank, size):
    x = torch.sparse_coo_tensor([[0, rank + 1]], [[1.0, 2.0], [3.0, 4.0]], (size + 1, 2), check_invariants=True)
    expected = torch.zeros(size + 1, 2)
    expected[0] = torch.tensor([1.0, 2.0]) * size
    expected[1:] = torch.tensor([3.0, 4.0])
    dist.all_reduce(x)
    same(x.to_dense(), expected)


def test_objects(rank, size):
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank, "text": "x" * rank})
    assert found == [{"rank": r, "text": "x" * r} for r in range(size)]
    objects = [rank, "a"]
    dist.broadcast_object_list(objects, src=size - 1)
    assert objects == [size - 1, "a"]
    output = [None]
    dist.scatter_object_list(output, [(r, "to") for r in range(size)] if rank == 0 else None, src=0)
    assert output == [(rank, "to")]
    gathered = [None] * size if rank == 0 else None
    dist.gather_object(rank, gathered, dst=0)
    assert rank != 0 or gathered == list(range(size))


def test_barriers(rank, size):
    dist.barrier()
    dist.barrier(async_op=True).wait()
    dist.group.WORLD._get_backend(torch.device("cpu")).monitored_barrier()


def test_empty(rank, size):
    x = torch.empty(0)
    dist.all_reduce(x)
    dist.all_gather([torch.empty(0) for _ in range(size)], x)
    dist.all_to_all_single(torch.empty(0), x)


def refused(call, text):
    try:
        call()
    except (RuntimeError, ValueError) as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"no error with {text!r}")


def test_errors(rank, size):
    refused(lambda: dist.all_reduce(torch.zeros(2), op=dist.ReduceOp.BAND), "band")
    refused(lambda: gather_whole(torch.zeros(2), torch.zeros(3 + size)), "elements")
    if size > 1:
        refused(lambda: dist.isend(torch.zeros(1), (rank + 1) % size, tag=40000), "tag")
