// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/standin/nccl.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::standin {

/// Puts the stand-ins behind the seams of tutti-commbench as well: its own NCCL calls go to this process's stand-in for
/// NCCL, its timers read the host's clock. Until the process ends, as both stand-ins must live.
void install_for_commbench(Runtime& runtime, const Nccl& nccl);

}  // namespace tutti::standin
