// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/runtime.hpp"

namespace tutti::detail {

/// Prepares a stream for kernels at its first use. This allocates device memory, so it drives the progress of the
/// library until no NCCL work is in flight. The stream must not be captured, the device must be current, and the caller
/// must not hold the launch mutex. Any thread. Throws not_built if there are no kernels.
void prepare_kernels(int device, device::StreamHandle stream);

/// Returns true if the stream was prepared; a captured stream cannot be. The default stream has one handle on all
/// devices, so the device counts too.
[[nodiscard]] bool has_kernels_prepared(int device, device::StreamHandle stream);

}  // namespace tutti::detail
