// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "common/counter_random.hpp"

namespace dlrm {

/// In [0, 1), 24 bits.
[[nodiscard]] constexpr float unit_float(std::uint64_t bits) { return static_cast<float>(bits >> 40U) * 0x1p-24F; }

/// The start of stream `stream` of a seed.
[[nodiscard]] constexpr std::uint64_t stream_start(std::uint64_t seed, std::uint64_t stream) {
  return tutti::miniapps::mix_counter((seed << 32U) + stream);
}

}  // namespace dlrm
