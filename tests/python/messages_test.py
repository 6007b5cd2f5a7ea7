# SPDX-License-Identifier: BSD-3-Clause
"""Messages between two ranks, and requests: their arrays, asyncio, interrupts."""

import asyncio
import gc
import os
import signal
import threading
import time
import weakref

import numpy as np
from support import comm, data, equal, raises, rank, size

import tutti

right, left = (rank + 1) % size, (rank - 1) % size


def test_ring():
    got = np.empty(4, np.int64)
    for i in range(3):
        status = comm.sendrecv(data(rank, 4, i), right, got, left, send_tag=i, recv_tag=i)
        equal(got, data(left, 4, i))
        assert (status.source, status.tag, status.count) == (left, i, 4)
        request = comm.irecv(got, left, tag=7)
        comm.send(data(rank, 3, i), right, tag=7)
        assert request.wait().count == 3
        equal(got[:3], data(left, 3, i))
    send, receive = comm.send_init(mine := np.empty(4, np.int64), right), comm.recv_init(got, left)
    for i in range(3):
        mine[:] = data(rank, 4, i)
        tutti.start_all([receive, send])
        assert tutti.wait_all([receive, send])[0].source == left
        equal(got, data(left, 4, i))


def test_probe():
    request = comm.isend(np.arange(5, dtype=np.int16), right, tag=3)
    status = comm.probe(np.int16, tutti.ANY_SOURCE, tag=3)
    assert status.count == 5 and status.source == left
    got = np.empty(status.count, np.int16)
    comm.recv(got, status.source, tag=3)
    equal(got, np.arange(5))
    request.wait()
    assert comm.iprobe("int16", tutti.ANY_SOURCE, tag=3) is None
    comm.send(got, tutti.PROC_NULL)


def test_strides():
    x = np.arange(12.0).reshape(3, 4) + 100 * rank
    column = np.zeros((3, 4))
    comm.sendrecv(x[:, 1], right, column[:, 2], left)
    equal(column[:, 2], np.arange(12.0).reshape(3, 4)[:, 1] + 100 * left)
    assert column.sum() == column[:, 2].sum()
    backwards = np.zeros(4)
    comm.sendrecv(x[0, ::-1], right, backwards, left)
    equal(backwards, np.arange(4.0)[::-1] + 100 * left)


def test_an_operation_drops_requests():
    """While the operations of dropped requests are completed, their Python code drops others that are under way."""

    class Array(np.ndarray):
        pass

    number = 64
    arrays = [np.zeros(1).view(Array) for _ in range(number)]
    seen = [weakref.ref(x) for x in arrays]
    receives = [comm.irecv(x, left, tag=77) for x in arrays]
    del arrays
    sums = [np.full(4, rank + 1.0) for _ in range(8)]

    def combine(a, b):
        for _ in range(min(len(receives), 4)):
            receives.pop()
        b += a

    operation = tutti.ReduceOp.user(combine)
    for x in sums:
        comm.iallreduce(x, op=operation)
    time.sleep(0.2)  # the others have begun, and the next drop of a request looks after all
    if receives:
        receives.pop()
    comm.barrier()
    gc.collect()
    receives.clear()
    for _ in range(number):
        comm.send(np.ones(1), right, tag=77)
    end = time.monotonic() + 10
    while (any(x() is not None for x in seen) or sums[-1][0] != size * (size + 1) / 2) and time.monotonic() < end:
        tutti.progress()
    assert all(x() is None for x in seen), "the array of a finished operation was not released"
    for x in sums:
        equal(x, np.full(4, size * (size + 1) / 2))
    comm.barrier()


def test_arrays_live_as_long_as_their_operation():
    class Array(np.ndarray):
        pass

    x = np.full(1000, rank, np.int64).view(Array)
    seen = weakref.ref(x)
    request = comm.iallreduce(x)
    del x
    gc.collect()
    assert seen() is not None
    assert request.wait()[0] == size * (size - 1) // 2
    del request
    gc.collect()
    assert seen() is None
    # A request that is dropped while it runs.
    x = np.full(50000, rank, np.int64).view(Array)
    seen = weakref.ref(x)
    comm.iallreduce(x)
    del x
    comm.barrier()
    end = time.monotonic() + 10
    while seen() is not None and time.monotonic() < end:
        tutti.progress()
    assert seen() is None, "the array of a finished operation was not released"
    growing = bytearray(8)
    request = comm.irecv(growing, left, tag=9)
    with raises(BufferError):
        growing.extend(b"more")
    comm.send(b"12345678", right, tag=9)
    request.wait()
    growing.extend(b"more")
    assert growing == b"12345678more"


def test_asyncio():
    async def one(i):
        x = data(rank, 4, i)
        return (await comm.iallreduce(x)), i

    async def all_of_them():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        background = asyncio.create_task(tick())
        results = await asyncio.gather(*(one(i) for i in range(5)))
        got = np.empty(2)
        receive = comm.irecv(got, left, tag=11)
        if rank == 0:
            await asyncio.sleep(0.02)
        await comm.isend(np.full(2, float(rank)), right, tag=11)
        status = await receive
        assert status.source == left
        equal(got, np.full(2, left))
        background.cancel()
        assert ticks > 0
        return results

    for result, i in asyncio.run(all_of_them()):
        equal(result, sum(data(r, 4, i) for r in range(size)))


def test_keyboard_interrupt():
    got = np.zeros(1)
    request = comm.irecv(got, left, tag=13)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    timer.start()
    with raises(KeyboardInterrupt):
        request.wait()
    signal.signal(signal.SIGINT, previous)
    assert time.monotonic() - start < 10
    timer.join()
    # The operation goes on.
    comm.barrier()
    comm.send(np.full(1, rank + 1.0), right, tag=13)
    request.wait()
    equal(got, [left + 1])


def test_other_threads_run_meanwhile():
    count = 0
    stop = threading.Event()

    def work():
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0)

    thread = threading.Thread(target=work)
    thread.start()
    request = comm.ibarrier() if rank else None
    if rank == 0:
        time.sleep(0.05)
        before = count
        assert before > 0
        comm.ibarrier().wait()
    else:
        request.wait()
    stop.set()
    thread.join()
    assert count > 0


def test_two_threads_are_refused():
    if size == 1:
        return "one rank"
    part = comm.dup()
    request = part.irecv(np.zeros(1), left)
    errors = []

    def wait():
        try:
            request.wait()
        except tutti.Error as error:
            errors.append(error.code)

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    comm.barrier()
    part.send(np.ones(1), right)
    for thread in threads:
        thread.join()
    assert errors in ([], [tutti.ErrorCode.INVALID_REQUEST]), errors
    part.free()


def test_requests():
    request = comm.iallreduce(np.ones(2))
    assert not request.persistent
    tutti.wait_all([request, comm.ibarrier()])
    assert not request.active
    request.wait()
    equal(request.result, np.full(2, size))
    with raises(tutti.Error, tutti.ErrorCode.INVALID_REQUEST):
        request.start()
    assert tutti.test_all([request])
