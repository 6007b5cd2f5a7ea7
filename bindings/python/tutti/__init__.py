# SPDX-License-Identifier: BSD-3-Clause
"""Collectives and training building blocks on MPI, for NumPy, PyTorch, CuPy and JAX arrays.

A program calls world() for a communicator of all ranks and the methods of Communicator on its arrays:

    comm = tutti.world()
    comm.allreduce(x)                  # in place, blocking
    request = comm.iallreduce(y)       # nonblocking: request.wait(), or await request

docs/python.md of the source is the guide.
"""

from ._core import (
    ANY_SOURCE,
    ANY_TAG,
    AVG,
    BAND,
    BOR,
    BXOR,
    IN_PLACE,
    LAND,
    LOR,
    LXOR,
    MAX,
    MAXLOC,
    MIN,
    MINLOC,
    PROC_NULL,
    PROD,
    SUM,
    CallAlgorithm,
    Communicator,
    EmbeddingCollection,
    EmbeddingTable,
    Error,
    ErrorCode,
    GradientReducer,
    InPlace,
    ParameterServer,
    Place,
    ReducerStatistics,
    ReduceOp,
    Request,
    ShardedOptimizer,
    ShardingPlan,
    Status,
    TableShard,
    Topology,
    config_summary,
    plan_sharding,
    progress,
    start_all,
    test_all,
    version,
    wait_all,
    why_no_device,
)
from ._environment import init, world

__version__ = version()
__all__ = [name for name in dir() if not name.startswith("_")]
