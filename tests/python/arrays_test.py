# SPDX-License-Identifier: BSD-3-Clause
"""Types of elements, kinds of arrays, and errors."""

import array

import numpy as np
from support import all_data, comm, data, equal, raises, rank, size

import tutti

codes = tutti.ErrorCode


def test_numpy_types():
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "longlong", "ulonglong"):
        x = data(rank, 6, dtype=np.dtype(dtype))
        equal(comm.allreduce(x), sum(all_data(6, dtype=np.dtype(dtype))))
    assert comm.allreduce(np.array([rank == size - 1, False]), op="lor").tolist() == [True, False]


def test_ml_dtypes():
    try:
        import ml_dtypes
    except ImportError as error:
        return str(error)
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        x = data(rank, 6, dtype=dtype)
        recv = np.zeros(6, dtype)
        wanted = sum(all_data(6, dtype=np.float32)).astype(dtype)
        equal(comm.allreduce(x, recv), wanted)
        equal(comm.allreduce(x), wanted)
    x = np.full((2, 3), rank, ml_dtypes.bfloat16)
    everyone = np.zeros((size, 2, 3), ml_dtypes.bfloat16)
    comm.allgather(x, everyone)
    equal(everyone[:, 1, 2], np.arange(size))
    x.flags.writeable = False
    with raises(tutti.Error, codes.INVALID_ARGUMENT, "read-only"):
        comm.allreduce(x)


def test_other_objects():
    x = array.array("d", [rank, 1])
    comm.allreduce(x)
    assert list(x) == [sum(range(size)), size]
    y = bytearray(b"abc" if rank == 0 else b"...")
    comm.bcast(y)
    assert y == b"abc"
    comm.bcast(b"abc" if rank == 0 else y)
    z = np.array(rank + 1.0)  # no dimensions
    comm.allreduce(z)
    assert z == size * (size + 1) / 2
    comm.allreduce(np.empty(0))
    comm.allreduce(memoryview(np.ones(3)))
    structs = np.zeros(2, [("a", "f4"), ("b", "i8"), ("c", "S3")])
    structs["c"] = b"x%d" % rank
    comm.bcast(structs)
    assert structs["c"][1] == b"x0"


def test_arrays_in_any_order():
    """A call sees elements in the order of their indices, whatever order each rank has them in."""
    values = np.arange(12.0).reshape(3, 4)
    orders = (values.copy(), np.asfortranarray(values), values.T.copy().T, np.repeat(values, 2, axis=1)[:, ::2])
    wanted = values * size + sum(range(size))
    for shift in range(len(orders)):
        for form in (comm.allreduce, comm.reduce, comm.scan):
            send = orders[(rank + shift) % len(orders)] + rank
            send = np.asfortranarray(send) if rank % 2 else send
            for recv in (np.zeros((3, 4)), np.zeros((3, 4), order="F"), np.zeros((4, 3)).T):
                form(send, recv)
                if form == comm.allreduce or form == comm.reduce and rank == 0:
                    equal(recv, wanted)
                if form == comm.scan:
                    equal(recv, values * (rank + 1) + sum(range(rank + 1)))
        x = np.asfortranarray(values + rank) if rank == shift % size else values + rank
        equal(comm.allreduce(x), wanted)
        equal(x, wanted)
        y = np.asfortranarray(values + rank) if rank % 2 == shift % 2 else values + rank
        comm.iallreduce(y).wait()
        equal(y, wanted)


class OnlyDlpack:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **arguments):
        return self.values.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OldDlpack(OnlyDlpack):
    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()


def test_dlpack():
    for kind in (OnlyDlpack, OldDlpack):
        for dtype in (np.float32, np.int64, np.complex128, np.float16, np.bool_):
            values = data(rank, 6, dtype=dtype)
            comm.bcast(kind(values))
            equal(values, data(0, 6, dtype=dtype))
    values = np.zeros((3, 4))
    values[:, 2] = rank
    comm.bcast(OnlyDlpack(values[:, 2]))
    assert values.sum() == 0
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with raises(tutti.Error, codes.INVALID_ARGUMENT, "read-only"):
        comm.allreduce(OnlyDlpack(frozen))


def test_torch():
    try:
        import torch
    except ImportError as error:
        return str(error)
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.float16):
        x = torch.full((5,), rank + 1, dtype=dtype)
        comm.allreduce(x)
        assert (x == size * (size + 1) // 2).all()
    # What a description of memory loses is refused, or done.
    conjugated = torch.ones(3, dtype=torch.complex64).conj()
    for refused in (torch.ones(3, requires_grad=True), conjugated, torch.ones(3).to_sparse()):
        with raises(BufferError):
            comm.allreduce(refused)
    column = torch.full((3, 2), rank, dtype=torch.int32)[:, 1]
    comm.bcast(column, root=size - 1)
    assert (column == size - 1).all()
    empty = torch.ones(0)
    comm.allreduce(empty)


def test_errors():
    x = np.ones(4)
    with raises(tutti.Error, codes.INVALID_OP, "sharing"):
        comm.allreduce(x, op="sharing")
    with raises(TypeError, text="op"):
        comm.allreduce(x, op=3)
    with raises(TypeError, text="send"):
        comm.allreduce([1, 2, 3])
    with raises(TypeError, text="object"):
        comm.allreduce(np.array([None]))
    with raises(tutti.Error, codes.INVALID_ARGUMENT, "recv"):
        comm.allreduce(x, b"1234")
    with raises(tutti.Error, codes.INVALID_ARGUMENT):
        comm.allreduce(x, memory="disk")
    part = comm.dup()
    with raises(tutti.Error, codes.INVALID_ARGUMENT):
        part.allreduce(x, np.ones(3))
    with raises(tutti.Error, codes.INVALID_OP):
        part.allreduce(x, op="band")
    with raises(tutti.Error, codes.INVALID_ARGUMENT):
        part.bcast(x, size)
    with raises(tutti.Error, text="layout"):
        part.allgatherv(np.ones((4, 4))[:, 1], np.ones(4 * size), [4] * size)
    with raises(tutti.Error, codes.INVALID_ARGUMENT):
        part.allgatherv(x[:1], np.ones(size), [-1] * size)
    try:
        part.bcast(x, -5)
    except tutti.Error as error:
        assert isinstance(error, RuntimeError) and str(error) and isinstance(error.code, tutti.ErrorCode)
        assert int(error.code.value) == 1
    part.free()


def test_timeout():
    part = tutti.Communicator(timeout=0.2, name="impatient")
    if rank == 0:
        y = np.zeros(3)
        with raises(tutti.Error, codes.TIMEOUT):
            part.recv(y, 0 if size == 1 else size - 1, tag=1)
        request = part.irecv(y, 0 if size == 1 else size - 1, tag=2)
        with raises(tutti.Error, codes.TIMEOUT):
            request.wait()
    comm.barrier()


def test_abort():
    if size == 1:
        return "one rank"
    part = comm.dup()
    if rank == 0:
        part.abort("enough")
    with raises(tutti.Error, codes.ABORTED, "enough"):
        part.allreduce(np.ones(1000))
    comm.barrier()
