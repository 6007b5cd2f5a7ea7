# SPDX-License-Identifier: BSD-3-Clause
"""Collectives and training building blocks on MPI, for NumPy, PyTorch, CuPy and JAX arrays.

A program calls world() for a communicator of all ranks and the methods of Communicator on its arrays:

    comm = tutti.world()
    comm.allreduce(x)                  # in place, blocking
    request = comm.iallreduce(y)       # nonblocking: request.wait(), or await request

docs/python.md of the source is the guide. Where the library or an MPI is missing, there is tutti.checkpoint alone.
"""

try:
    from ._mpi import choose as _choose

    _folder = _choose(__path__[0])
    if _folder:
        __path__.insert(0, _folder)

    from . import _core
except ImportError as error:
    _why = f"the library cannot be loaded: {error}; without it there is tutti.checkpoint alone"

    def __getattr__(name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(f"module 'tutti' has no attribute '{name}'")
        raise ImportError(f"tutti.{name}: {_why}")

else:
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
        Error,
        ErrorCode,
        ExactSum,
        InPlace,
        Place,
        ReduceOp,
        Request,
        Status,
        Topology,
        config_summary,
        progress,
        start_all,
        test_all,
        version,
        wait_all,
        why_no_device,
    )
    from ._environment import init, world

    __version__ = version()
    __all__ = [
        "ANY_SOURCE",
        "ANY_TAG",
        "AVG",
        "BAND",
        "BOR",
        "BXOR",
        "IN_PLACE",
        "LAND",
        "LOR",
        "LXOR",
        "MAX",
        "MAXLOC",
        "MIN",
        "MINLOC",
        "PROC_NULL",
        "PROD",
        "SUM",
        "CallAlgorithm",
        "Communicator",
        "Error",
        "ErrorCode",
        "ExactSum",
        "InPlace",
        "Place",
        "ReduceOp",
        "Request",
        "Status",
        "Topology",
        "config_summary",
        "progress",
        "start_all",
        "test_all",
        "version",
        "wait_all",
        "why_no_device",
        "init",
        "world",
    ]

    if hasattr(_core, "GradientReducer"):
        from ._core import (
            EmbeddingCollection,
            EmbeddingTable,
            GradientReducer,
            ParameterServer,
            ReducerStatistics,
            RowFrequencies,
            ShardedOptimizer,
            ShardingPlan,
            TableShard,
            count_rows,
            plan_sharding,
        )

        __all__ += [
            "EmbeddingCollection",
            "EmbeddingTable",
            "GradientReducer",
            "ParameterServer",
            "ReducerStatistics",
            "RowFrequencies",
            "ShardedOptimizer",
            "ShardingPlan",
            "TableShard",
            "count_rows",
            "plan_sharding",
        ]
    else:

        def __getattr__(name: str) -> object:
            hint = ""
            if not name.startswith("_"):
                hint = "; this library was built without its training layer: configure it with -DTUTTI_ENABLE_TRAINING=ON"
            raise AttributeError(f"module 'tutti' has no attribute '{name}'{hint}")
