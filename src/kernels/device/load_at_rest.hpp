// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace tutti::kernels::device {

/// Calls `act`, which loads code or allocates on the device, while no NCCL work is in flight, as Kernel::load does.
void load_at_rest(int device, const std::function<void()>& act);

}  // namespace tutti::kernels::device
