# SPDX-License-Identifier: BSD-3-Clause
"""Communication hooks of DistributedDataParallel:

    model.register_comm_hook(None, tutti.torch.hooks.bf16)
    model.register_comm_hook(tutti.torch.hooks.PowerSgd(rank=2), tutti.torch.hooks.power_sgd)
"""

from ._compress import bf16, fp16
from ._power_sgd import PowerSgd, power_sgd

__all__ = ["bf16", "fp16", "PowerSgd", "power_sgd"]
