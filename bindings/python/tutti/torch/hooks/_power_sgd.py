# SPDX-License-Identifier: BSD-3-Clause
"""PowerSGD (Vogels, Karimireddy, Jaggi 2019, Algorithms 1 and 2), with the meanings of tutti's C++ hook power_sgd."""

import dataclasses
from typing import Any, Optional

import torch
import torch.distributed as dist

_Future = torch.futures.Future[torch.Tensor]


@dataclasses.dataclass
class _Factors:
    """What one matrix keeps from step to step."""

    right: torch.Tensor
    error: Optional[torch.Tensor]


class PowerSgd:
    """State of the hook power_sgd: one for each model. Making it is collective over the group.

    rank: columns of each factor. start_step: first steps that send whole gradients. A matrix of n x m elements is
    compressed if (n + m) * rank * min_compression_rate < n * m. error_feedback: what compression loses is added to the
    gradient of the next step. warm_start: each step starts from the factor of the step before. seed: of the first
    factors, equal on all ranks.

    The second factors travel on a group of their own, because they follow the first ones at another time on each rank.
    """

    def __init__(self, group: Optional[dist.ProcessGroup] = None, *, rank: int = 2, start_step: int = 10,
                 min_compression_rate: float = 2.0, error_feedback: bool = True, warm_start: bool = True,
                 seed: int = 0) -> None:
        if rank < 1:
            raise ValueError(f"PowerSgd: rank is {rank}; it must be at least 1 (2 is usual)")
        if not min_compression_rate > 0:
            raise ValueError(f"PowerSgd: min_compression_rate is {min_compression_rate}; it must be positive")
        self.group = group if group is not None else dist.group.WORLD
        self.second_group = dist.new_group(dist.get_process_group_ranks(self.group), use_local_synchronization=True,
                                           backend=dist.get_backend(self.group))
        self.rank, self.start_step, self.min_compression_rate = rank, start_step, min_compression_rate
        self.error_feedback, self.warm_start, self.seed = error_feedback, warm_start, seed
        self.step = 0
        self._numbers: dict[torch.Tensor, int] = {}
        self._factors: dict[int, _Factors] = {}

    def number_of(self, parameter: torch.Tensor) -> int:
        """Parameters are numbered in the order in which DDP first hands them over, which all runs of a model share."""
        return self._numbers.setdefault(parameter, len(self._numbers))

    def rank_of(self, gradient: torch.Tensor) -> int:
        """The columns of the factors of a gradient; 0 if it is sent whole."""
        if gradient.dim() < 2 or gradient.numel() == 0:
            return 0
        rows, columns = gradient.shape[0], gradient.numel() // gradient.shape[0]
        rank = min(self.rank, rows, columns)
        return rank if (rows + columns) * rank * self.min_compression_rate < gradient.numel() else 0

    def factors_of(self, number: int, gradient: torch.Tensor) -> _Factors:
        matrix = gradient.view(gradient.shape[0], -1)
        rank = self.rank_of(gradient)
        kept = self._factors.get(number)
        if kept is None or kept.right.shape != (matrix.shape[1], rank):
            error = torch.zeros_like(matrix) if self.error_feedback else None
            kept = self._factors[number] = _Factors(matrix.new_zeros(matrix.shape[1], rank), error)
        if not self.warm_start or not kept.right.any():
            generator = torch.Generator().manual_seed((self.seed << 32) + (number << 16) + self.step)
            numbers = torch.randn(kept.right.shape, generator=generator, dtype=torch.float64)
            kept.right = numbers.to(device=matrix.device, dtype=matrix.dtype)
        return kept

    def state_dict(self) -> dict[str, Any]:
        """This rank's state between steps, for a checkpoint: errors differ from rank to rank."""
        factors = {number: (kept.right.clone(), None if kept.error is None else kept.error.clone())
                   for number, kept in self._factors.items()}
        return {"step": self.step, "factors": factors}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes what state_dict() has returned on this rank, before the first step of the same model."""
        self.step = state["step"]
        self._factors = {number: _Factors(right.clone(), None if error is None else error.clone())
                         for number, (right, error) in state["factors"].items()}


class _Bucket:
    """One bucket on its way: left factors and small gradients first, then the right factors."""

    def __init__(self, state: PowerSgd, bucket: dist.GradBucket) -> None:
        self.state, self.gradients, self.buffer = state, bucket.gradients(), bucket.buffer()
        numbers = [state.number_of(parameter) for parameter in bucket.parameters()]
        self.factors = [state.factors_of(number, gradient) if state.rank_of(gradient) else None
                        for number, gradient in zip(numbers, self.gradients)]
        self.matrices = [(gradient.view(gradient.shape[0], -1), kept)
                         for gradient, kept in zip(self.gradients, self.factors) if kept is not None]
        self.whole = [gradient for gradient, kept in zip(self.gradients, self.factors) if kept is None]
        self.result: _Future = torch.futures.Future()

    def send_left(self) -> None:
        for matrix, kept in self.matrices:
            if kept.error is not None:
                matrix.add_(kept.error)
            kept.right = torch.linalg.qr(kept.right).Q
        parts = [(matrix @ kept.right).view(-1) for matrix, kept in self.matrices]
        self.left = torch.cat([*parts, *(gradient.reshape(-1) for gradient in self.whole)])
        self._reduce(self.left, self.state.group, self._send_right)

    def _send_right(self, left: torch.Tensor) -> None:
        sizes = [matrix.shape[0] * kept.right.shape[1] for matrix, kept in self.matrices]
        parts = left.split([*sizes, *(gradient.numel() for gradient in self.whole)])
        for gradient, part in zip(self.whole, parts[len(sizes):]):
            gradient.copy_(part.view_as(gradient))
        self.lefts = [torch.linalg.qr(part.view(matrix.shape[0], -1)).Q
                      for (matrix, _), part in zip(self.matrices, parts)]
        rights = [matrix.t() @ factor for (matrix, _), factor in zip(self.matrices, self.lefts)]
        for (matrix, kept), factor, right in zip(self.matrices, self.lefts, rights):
            if kept.error is not None:
                torch.sub(matrix, factor @ right.t(), out=kept.error)
        self._reduce(torch.cat([right.reshape(-1) for right in rights]), self.state.second_group, self._expand)

    def _expand(self, right: torch.Tensor) -> None:
        parts = right.split([kept.right.numel() for _, kept in self.matrices])
        for (matrix, kept), factor, part in zip(self.matrices, self.lefts, parts):
            mean = part.view_as(kept.right)
            torch.mm(factor, mean.t(), out=matrix)
            if mean.isfinite().all():
                kept.right = mean.clone()
            else:  # on all ranks alike; later steps start anew
                kept.right = torch.zeros_like(mean)
                if kept.error is not None:
                    kept.error.zero_()
        self.result.set_result(self.buffer)

    def _reduce(self, values: torch.Tensor, group: dist.ProcessGroup, then: Any) -> None:
        values.div_(group.size())
        future = dist.all_reduce(values, group=group, async_op=True).get_future()

        def go_on(done: Any) -> None:
            try:
                with torch.no_grad():
                    then(done.value()[0])
            except Exception as error:
                if not self.result.done():
                    self.result.set_exception(error)

        future.add_done_callback(go_on)


def power_sgd(state: PowerSgd, bucket: dist.GradBucket) -> _Future:
    """Sends a gradient of two or more dimensions as two factors of few columns; others are sent whole.

    The state is a PowerSgd, and one model has one. Gradients are float32 or float64. Counterpart: powerSGD_hook of
    PyTorch.
    """
    compresses = state.step >= state.start_step
    if bucket.is_last():
        state.step += 1
    with torch.no_grad():
        # Parameters get their numbers in the first step, whether or not it compresses.
        for parameter in bucket.parameters():
            state.number_of(parameter)
        if compresses and any(state.rank_of(gradient) for gradient in bucket.gradients()):
            sent = _Bucket(state, bucket)
            sent.send_left()
            return sent.result
        values = bucket.buffer().div_(state.group.size())
        future = dist.all_reduce(values, group=state.group, async_op=True).get_future()
        return future.then(lambda done: done.value()[0])
