// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "counter_random.hpp"

namespace tutti::miniapps {

/// A random order of 0 ... count - 1 that is computed, not stored: each place is a pure function of seed and stream,
/// the same on all ranks. Four rounds of a Feistel cipher on the fewest bits that hold count, applied again until the
/// number is in range: less than twice on average. Source: Black and Rogaway, Ciphers with arbitrary finite domains,
/// 2002.
class CounterPermutation {
 public:
  constexpr CounterPermutation(std::uint64_t count, std::uint64_t seed, std::uint64_t stream)
      : count_(count), keys_(seed, stream) {
    const auto bits = static_cast<unsigned>(std::bit_width(count > 1 ? count - 1 : std::uint64_t{1}));
    low_bits_ = (bits + 1) / 2;
    low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
    high_mask_ = (std::uint64_t{1} << (bits - low_bits_)) - 1;
  }

  /// The number at place `i`, which is below count.
  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t i) const {
    do {
      i = encipher(i);
    } while (i >= count_);
    return i;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t encipher(std::uint64_t i) const {
    std::uint64_t low = i & low_mask_;
    std::uint64_t high = i >> low_bits_;
    for (std::uint64_t round = 0; round < 4; round += 2) {
      high ^= mix_counter(keys_.bits(round) ^ low) & high_mask_;
      low ^= mix_counter(keys_.bits(round + 1) ^ high) & low_mask_;
    }
    return high << low_bits_ | low;
  }

  std::uint64_t count_;
  CounterRandom keys_;
  unsigned low_bits_ = 0;
  std::uint64_t low_mask_ = 0;
  std::uint64_t high_mask_ = 0;
};

}  // namespace tutti::miniapps
