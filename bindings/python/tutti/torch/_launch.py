# SPDX-License-Identifier: BSD-3-Clause
"""Joins MPI's ranks and those of torch.distributed, which each launcher tells in its own variables."""

import os
import socket

from .. import init


def _free_address() -> str:
    host = socket.gethostname()
    with socket.socket() as probe:
        probe.bind(("", 0))
        port = probe.getsockname()[1]
    try:
        host = socket.gethostbyname(host)
    except OSError:
        host = "127.0.0.1"
    return f"{host}:{port}"


def _local_rank() -> str:
    for name in ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK"):
        if name in os.environ:
            return os.environ[name]
    return "0"


def prepare() -> None:
    """Initialises MPI and sets what init_process_group() reads from the environment. Collective under mpiexec."""
    if "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        from . import _torchrun

        _torchrun.join()
    init()
    from .. import _torch

    rank, size = _torch.world()
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return
    address = _torch.share(_free_address() if rank == 0 else "")
    host, port = address.rsplit(":", 1)
    os.environ.setdefault("MASTER_ADDR", host)
    os.environ.setdefault("MASTER_PORT", port)
    os.environ.setdefault("LOCAL_RANK", _local_rank())
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(size)
