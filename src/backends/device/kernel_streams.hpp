// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/runtime.hpp"

namespace tutti::detail {

/// Makes a stream ready for kernels at its first use, which allocates device memory: so it drives the progress of the
/// library until no NCCL work is in flight. The stream is not captured, the device is current, and the caller does not
/// hold the launch mutex. Any thread. Throws not_built where there are no kernels.
void prepare_kernels(int device, device::StreamHandle stream);

/// Whether that was done: a captured stream cannot be made ready.
[[nodiscard]] bool has_kernels_prepared(device::StreamHandle stream);

}  // namespace tutti::detail
