# SPDX-License-Identifier: BSD-3-Clause
"""Gradients as 16-bit floats."""

from typing import Any, Optional

import torch
import torch.distributed as dist

_Future = torch.futures.Future[torch.Tensor]


def _compressed(group: Optional[dist.ProcessGroup], bucket: dist.GradBucket, dtype: torch.dtype) -> _Future:
    group = group if group is not None else dist.group.WORLD
    gradients = bucket.buffer()
    sent = gradients.to(dtype).div_(group.size())
    future = dist.all_reduce(sent, group=group, async_op=True).get_future()

    def widen(done: Any) -> torch.Tensor:
        gradients.copy_(done.value()[0])
        return gradients

    return future.then(widen)


def bf16(group: Optional[dist.ProcessGroup], bucket: dist.GradBucket) -> _Future:
    """Sends gradients as bfloat16, which takes half of float32's bytes. Tutti adds them in float32 and rounds once."""
    return _compressed(group, bucket, torch.bfloat16)


def fp16(group: Optional[dist.ProcessGroup], bucket: dist.GradBucket) -> _Future:
    """As bf16, with float16: more digits, but no values beyond 65504."""
    return _compressed(group, bucket, torch.float16)
