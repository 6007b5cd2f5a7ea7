// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tutti::kernels {

/// Returns true if data of this size are longer than the caches of one core.
[[nodiscard]] bool exceeds_core_caches(std::size_t bytes) noexcept;

/// Copies past the caches where the processor can: the target's old lines are not read first, and its new ones displace
/// nothing. For a piece of data that a core would not find in its caches afterwards anyway. The two must not overlap.
void stream_copy(void* to, const void* from, std::size_t bytes) noexcept;

/// Copies a whole buffer, past the caches where that is faster. The two must not overlap.
void copy_buffer(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace tutti::kernels
