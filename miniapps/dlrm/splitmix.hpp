// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace dlrm {

/// A counter-based generator: any value of a stream without those before it. Source: Steele, Lea and Flood, Fast
/// splittable pseudorandom number generators, 2014.
[[nodiscard]] constexpr std::uint64_t splitmix64(std::uint64_t counter) {
  counter += 0x9E3779B97F4A7C15U;
  counter = (counter ^ (counter >> 30U)) * 0xBF58476D1CE4E5B9U;
  counter = (counter ^ (counter >> 27U)) * 0x94D049BB133111EBU;
  return counter ^ (counter >> 31U);
}

/// In [0, 1), 24 bits.
[[nodiscard]] constexpr float unit_float(std::uint64_t bits) { return static_cast<float>(bits >> 40U) * 0x1p-24F; }

/// The start of stream `stream` of a seed.
[[nodiscard]] constexpr std::uint64_t stream_start(std::uint64_t seed, std::uint64_t stream) {
  return splitmix64((seed << 32U) + stream);
}

}  // namespace dlrm
