# SPDX-License-Identifier: BSD-3-Clause
"""The process group "tutti" of torch.distributed.

    import torch.distributed as dist
    import tutti.torch

    dist.init_process_group("tutti")   # under mpiexec, srun or torchrun

Importing this module registers the backend and, under an MPI launcher, initialises MPI and sets the variables that
init_process_group reads (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT) where they are not set.
"""

import sys as _sys

# python -m tutti.torch.build imports this package before there is a module to load.
if not (_sys.argv[0] == "-m" and "tutti.torch.build" in _sys.orig_argv):
    from . import hooks
    from ._backend import register
    from ._launch import prepare

    prepare()
    register()

__all__ = ["hooks"]
