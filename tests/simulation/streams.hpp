// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// The copies past the caches (kernels/copy.hpp), with stores and a fence that the model of weak memory sees.
namespace tutti::simulated_kernels {

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept;

/// The caches of a simulated core are small, so that short data exceed them too.
inline constexpr std::size_t core_caches = 4096;

}  // namespace tutti::simulated_kernels
