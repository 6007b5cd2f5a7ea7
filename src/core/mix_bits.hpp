// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tutti::detail {

/// Random bits of a counter: the output function of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom
/// number generators, OOPSLA 2014). Any number of a stream can be made without the ones before it.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace tutti::detail
