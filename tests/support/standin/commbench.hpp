// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/standin/nccl.hpp"

namespace tutti::standin {

/// Puts the stand-in for NCCL behind the seam of tutti-commbench as well, for its own NCCL calls. Until the process
/// ends, as the stand-in must live.
void install_for_commbench(const Nccl& nccl);

}  // namespace tutti::standin
