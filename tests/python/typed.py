# SPDX-License-Identifier: BSD-3-Clause
"""For a type checker, which must accept all of it; it never runs."""

import array

import numpy as np

import tutti
import tutti.checkpoint

comm = tutti.world()
x = np.ones(3)
comm.allreduce(x, timeout=1.5, reproducible=True)
comm.bcast(array.array("d", [1.0]), 0)
comm.send(b"bytes", 0)
request: tutti.Request = comm.iallgather(x, np.ones((comm.size, 3)))
request.wait()
part = comm.split(comm.rank)
if part is not None:
    with part as inner:
        inner.barrier(stream=0)
code: tutti.ErrorCode = tutti.ErrorCode.TIMEOUT
status: tutti.Status = comm.recv(x, tutti.ANY_SOURCE)
print(status.count + 1, tutti.SUM, comm.topology.nodes)
reducer = tutti.GradientReducer(comm, hook="bf16")
index: int = reducer.add("w", x)
saved: tutti.checkpoint.Checkpoint = tutti.checkpoint.open("run")
table: tutti.checkpoint.Table = saved.tables()["users"]
print(table[3:7].shape, table.dim + 1, table.state and table.state[[3]], saved.saves[0].bytes + 1)
comm.allreduce(x, timeuot=1)  # type: ignore[call-arg]


async def waits() -> None:
    await request
