# SPDX-License-Identifier: BSD-3-Clause
"""Registers the backend with torch.distributed."""

from datetime import timedelta
from typing import Any

import torch.distributed as dist

try:
    from .. import _torch
except ImportError as error:
    raise ImportError(
        f"tutti.torch has no extension module for this Python and PyTorch ({error}). Build it: "
        "python -m tutti.torch.build, or pip install --no-build-isolation bindings/python where PyTorch is installed",
        name="tutti._torch",
    ) from error


def _create(options: Any, _group_options: Any) -> Any:
    return _torch.create(
        options.store,
        options.group_rank,
        options.group_size,
        timedelta(seconds=options.timeout.total_seconds()),
        list(options.global_ranks_in_group),
        options.group_id,
    )


def register() -> None:
    """Makes "tutti" a backend of torch.distributed, for tensors on cpu and cuda. Further calls do nothing."""
    if not hasattr(dist.Backend, "TUTTI"):
        dist.Backend.register_backend("tutti", _create, extended_api=True, devices=["cpu", "cuda"])
