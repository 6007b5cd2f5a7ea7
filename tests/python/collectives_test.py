# SPDX-License-Identifier: BSD-3-Clause
"""Every collective in its three forms, against NumPy."""

import numpy as np
from support import all_data, comm, data, equal, raises, rank, size

import tutti

iterations = 3


def in_three_forms(name, *arguments, before, after, **options):
    """Calls a collective blocking, nonblocking and persistent; before(i) sets the arrays, after(i) checks them."""
    for i in range(iterations):
        before(i)
        getattr(comm, name)(*arguments, **options)
        after(i)
    for i in range(iterations):
        before(i)
        request = getattr(comm, "i" + name)(*arguments, **options)
        request.wait()
        after(i)
    request = getattr(comm, name + "_init")(*arguments, **options)
    for i in range(iterations):
        before(i)
        request.start()
        while not request.test():
            pass
        after(i)


def reduce_rows(op, rows):
    return op.reduce(np.stack(rows), axis=0)


def test_allreduce():
    send, recv = np.empty(5, np.int64), np.empty(5, np.int64)

    def before(i):
        send[:] = data(rank, 5, i)
        recv[:] = -1

    for op, numpy_op in (("sum", np.add), (tutti.PROD, np.multiply), (tutti.MIN, np.minimum), ("max", np.maximum),
                         ("band", np.bitwise_and), ("bor", np.bitwise_or), (tutti.BXOR, np.bitwise_xor)):
        in_three_forms("allreduce", send, recv, op, before=before,
                       after=lambda i: equal(recv, reduce_rows(numpy_op, all_data(5, i))))
    in_three_forms("allreduce", send, before=before, after=lambda i: equal(send, sum(all_data(5, i))))
    in_three_forms("allreduce", tutti.IN_PLACE, send, before=before, after=lambda i: equal(send, sum(all_data(5, i))))


def test_values():
    assert comm.allreduce_value(rank + 1) == size * (size + 1) // 2
    assert comm.allreduce_value(rank * 0.5, "max") == (size - 1) * 0.5
    assert comm.allreduce_value(rank == 0, "lor") is True


def test_reduce_and_scans():
    send, recv = np.empty(4), np.empty(4)

    def before(i):
        send[:] = data(rank, 4, i)
        recv[:] = -1

    for root in range(size):
        in_three_forms("reduce", send, recv if rank == root else None, tutti.SUM, root, before=before,
                       after=lambda i: equal(recv, sum(all_data(4, i)) if rank == root else np.full(4, -1)))
    in_three_forms("scan", send, recv, before=before, after=lambda i: equal(recv, sum(all_data(4, i)[: rank + 1])))
    in_three_forms("exscan", send, recv, before=before,
                   after=lambda i: equal(recv, sum(all_data(4, i)[:rank]) if rank else np.full(4, -1)))
    in_three_forms("scan", send, before=before, after=lambda i: equal(send, sum(all_data(4, i)[: rank + 1])))


def test_bcast_and_barrier():
    x = np.empty(6, np.int32)

    def before(i):
        x[:] = data(rank, 6, i)

    for root in range(size):
        in_three_forms("bcast", x, root, before=before, after=lambda i: equal(x, data(root, 6, i)))
    in_three_forms("barrier", before=lambda i: None, after=lambda i: None)


def test_gather_and_scatter():
    mine, everyone = np.empty(3, np.int16), np.empty((size, 3), np.int16)
    for root in range(size):

        def before(i):
            mine[:] = data(rank, 3, i)
            everyone[:] = -1

        def after(i):
            equal(everyone, all_data(3, i) if rank == root else np.full((size, 3), -1))

        in_three_forms("gather", mine, everyone if rank == root else None, root, before=before, after=after)

        def before_scatter(i):
            everyone[:] = np.stack(all_data(3, i)) + rank
            mine[:] = -1

        in_three_forms("scatter", everyone if rank == root else None, mine, root, before=before_scatter,
                       after=lambda i: equal(mine, data(rank, 3, i) + root))
        before_scatter(0)
        returned = comm.scatter(everyone if rank == root else None, tutti.IN_PLACE if rank == root else mine, root)
        equal(returned[rank] if rank == root else returned, data(rank, 3, 0) + root)


def test_allgather_and_alltoall():
    mine, everyone = np.empty(3, np.uint8), np.empty((size, 3), np.uint8)
    blocks = np.empty((size, 2), np.float32)
    got = np.empty((size, 2), np.float32)

    def before(i):
        mine[:] = data(rank, 3, i)
        everyone[:] = 255
        everyone[rank] = data(rank, 3, i)
        blocks[:] = [data(rank, 2, i) + 10 * r for r in range(size)]
        got[:] = -1

    wanted = lambda i: [data(s, 2, i) + 10 * rank for s in range(size)]  # noqa: E731
    in_three_forms("allgather", mine, everyone, before=before, after=lambda i: equal(everyone, all_data(3, i)))
    in_three_forms("allgather", everyone, before=before, after=lambda i: equal(everyone, all_data(3, i)))
    in_three_forms("alltoall", blocks, got, before=before, after=lambda i: equal(got, wanted(i)))
    in_three_forms("alltoall", blocks, before=before, after=lambda i: equal(blocks, wanted(i)))


def test_reduce_scatters():
    send, recv = np.empty(2 * size), np.empty(2)
    counts = [r + 1 for r in range(size)]
    long = np.empty(sum(counts), np.complex128)
    part = np.empty(counts[rank], np.complex128)

    def before(i):
        send[:] = data(rank, 2 * size, i)
        long[:] = data(rank, len(long), i) * (1 + 2j)

    in_three_forms("reduce_scatter_block", send, recv, before=before,
                   after=lambda i: equal(recv, sum(all_data(2 * size, i))[2 * rank : 2 * rank + 2]))
    first = sum(counts[:rank])
    in_three_forms("reduce_scatter", long, part, counts, before=before,
                   after=lambda i: equal(part, sum(all_data(len(long), i))[first : first + counts[rank]] * (1 + 2j)))


def test_v_forms():
    counts = [(r * 2 + 1) % 4 for r in range(size)]
    mine, total = np.empty(counts[rank]), sum(counts)
    everyone = np.empty(total)
    wanted = lambda i: np.concatenate([data(r, counts[r], i) for r in range(size)])  # noqa: E731

    def before(i):
        mine[:] = data(rank, counts[rank], i)
        everyone[:] = -1

    in_three_forms("allgatherv", mine, everyone, counts, before=before, after=lambda i: equal(everyone, wanted(i)))
    root = size - 1
    at_root = rank == root
    in_three_forms("gatherv", mine, everyone if at_root else None, counts if at_root else None, None, root,
                   before=before, after=lambda i: at_root and equal(everyone, wanted(i)))

    def before_scatterv(i):
        everyone[:] = wanted(i)
        mine[:] = -1

    in_three_forms("scatterv", everyone if at_root else None, counts if at_root else None, mine, None, root,
                   before=before_scatterv, after=lambda i: equal(mine, data(rank, counts[rank], i)))
    # Displacements in reverse order.
    places = np.cumsum([0] + counts[:0:-1])[::-1]
    comm.allgatherv(mine, everyone, recv_counts=np.array(counts), recv_displs=places)
    equal(everyone, np.concatenate([data(r, counts[r], iterations - 1) for r in reversed(range(size))]))


def test_alltoallv():
    # Rank s sends (s + r) % 3 elements to rank r.
    sent = [(rank + r) % 3 for r in range(size)]
    received = sent
    send, recv = np.empty(sum(sent), np.int32), np.empty(sum(received), np.int32)

    def before(i):
        send[:] = np.concatenate([np.full(n, 100 * rank + 10 * r + i) for r, n in enumerate(sent)])
        recv[:] = -1

    in_three_forms("alltoallv", send, sent, recv, received, before=before,
                   after=lambda i: equal(recv, np.concatenate([np.full(n, 100 * s + 10 * rank + i)
                                                               for s, n in enumerate(received)])))


def test_neighborhoods():
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        return f"mpi4py: {error}"
    cart = MPI.COMM_WORLD.Create_cart([size], periods=[True])
    ring = tutti.Communicator(cart)
    left, right = (rank - 1) % size, (rank + 1) % size
    assert ring.neighborhood() == ([left, right], [left, right])
    recv = np.empty((2, 3), np.int64)
    equal(ring.neighbor_allgather(data(rank, 3), recv), [data(left, 3), data(right, 3)])
    # On one or two ranks both neighbours are one, and the block that goes down arrives from above.
    blocks = np.stack([data(rank, 3) + 100, data(rank, 3) + 200])
    equal(ring.neighbor_alltoall(blocks, recv), [data(left, 3) + 200, data(right, 3) + 100])
    equal(ring.ineighbor_alltoallv(blocks, [3, 3], recv, [3, 3]).wait(), [data(left, 3) + 200, data(right, 3) + 100])
    equal(ring.neighbor_allgatherv(data(rank, 3), recv, [3, 3]), [data(left, 3), data(right, 3)])
    x = np.zeros((3, 4))
    x[:, 1:3] = rank + 1
    ring.neighbor_alltoallw([x[:, 1], x[:, 2]], [x[:, 0], x[:, 3]])
    equal(x[0], [left + 1, rank + 1, rank + 1, right + 1])
    ring.free()
    cart.Free()
    with raises(tutti.Error, tutti.ErrorCode.INVALID_ARGUMENT):
        comm.neighborhood()


def test_user_operations():
    def longest(a, b):
        b[:] = np.where(np.abs(a) > np.abs(b), a, b)

    op = tutti.ReduceOp.user(longest)
    x = np.array([rank + 1.0, -rank - 1.0, rank * (-1.0) ** rank])
    wanted = max((r * (-1.0) ** r for r in range(size)), key=abs)
    equal(comm.allreduce(x, op=op), [size, -size, wanted])
    first = tutti.ReduceOp.user(lambda a, b: b.__setitem__(slice(None), a), commutative=False)
    request = comm.iallreduce(np.full(3, rank), op=first)
    del first
    equal(request.wait(), np.zeros(3))
    equal(comm.allreduce(np.full(2, 1.0), op=tutti.ReduceOp.premul_sum(rank + 1)), np.full(2, size * (size + 1) / 2))
    pair = np.dtype([("value", np.float64), ("index", np.int32)], align=True)
    y = np.array([(abs(rank - 1), rank)], pair)
    comm.allreduce(y, op=tutti.MINLOC)
    assert y[0]["index"] == (1 if size > 1 else 0) and y[0]["value"] == (0 if size > 1 else 1)


def test_options():
    x = data(rank, 4).astype(np.float32)
    comm.allreduce(x, timeout=30, reproducible=True, algorithm="", memory="host", accumulation="full", stream=None)
    equal(x, sum(all_data(4)))
    names = [a.name for a in comm.algorithms("allreduce", 4)]
    assert names, names
    with raises(TypeError, text="tiemout"):
        comm.allreduce(x, tiemout=1)
    for name, value in (("timeout", "soon"), ("algorithm", 3), ("reproducible", "yes")):
        with raises(TypeError, text=f"argument {name} is of type {type(value).__name__}; pass"):
            comm.allreduce(x, **{name: value})
    for value in ("one", 2**70):
        with raises(TypeError, text=f"argument value is of type {type(value).__name__}; pass"):
            comm.allreduce_value(value)
