// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace tutti::detail {

/// An integer multiple of 2^lowest, long enough for 2^63 products of any two float64: a superaccumulator (Kulisch,
/// "Computer Arithmetic and Validity", 2008). Digit i counts 2^(lowest + 32 i). A digit has 64 bits and a sign, so that
/// carries may wait (Neal, "Fast exact summation using small and large superaccumulators", 2015).
struct FixedPoint {
  static constexpr int digit_bits = 32;
  static constexpr int digit_count = 138;
  static constexpr int lowest = -2176;

  /// What the addends were, beside their finite sum.
  enum Seen : std::uint32_t { minus_zero = 1, other_number = 2, nan = 4, infinity = 8, minus_infinity = 16 };
  static constexpr int seen_bits = 5;

  std::array<std::int64_t, digit_count> digits{};
  std::int32_t low = digit_count;  ///< digits outside [low, high] are zero
  std::int32_t high = -1;
  std::uint32_t waiting = 0;  ///< additions since the carries were last passed on
  std::uint32_t seen = 0;     ///< of Seen
};

}  // namespace tutti::detail
