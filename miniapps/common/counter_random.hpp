// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tutti::miniapps {

/// A counter-based generator: any value of a stream without those before it. Source: Steele, Lea and Flood, Fast
/// splittable pseudorandom number generators, 2014.
[[nodiscard]] constexpr std::uint64_t mix_counter(std::uint64_t counter) {
  counter += 0x9E3779B97F4A7C15U;
  counter = (counter ^ (counter >> 30U)) * 0xBF58476D1CE4E5B9U;
  counter = (counter ^ (counter >> 27U)) * 0x94D049BB133111EBU;
  return counter ^ (counter >> 31U);
}

/// One stream of a seed: value `i` of it is a pure function.
class CounterRandom {
 public:
  constexpr CounterRandom(std::uint64_t seed, std::uint64_t stream)
      : start_(mix_counter(mix_counter(seed) ^ (stream * 0xD1342543DE82EF95U + 1))) {}
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t i) const { return mix_counter(start_ + i); }
  /// In [0, 1), 53 bits.
  [[nodiscard]] constexpr double uniform(std::uint64_t i) const {
    return static_cast<double>(bits(i) >> 11U) * 0x1p-53;
  }
  /// Mean 0, deviation 1; values 2 i and 2 i + 1 of the stream. Source: Box and Muller, 1958.
  [[nodiscard]] double normal(std::uint64_t i) const {
    const double radius = std::sqrt(-2 * std::log(1 - uniform(2 * i)));
    return radius * std::cos(2 * std::numbers::pi * uniform(2 * i + 1));
  }

 private:
  std::uint64_t start_;
};

}  // namespace tutti::miniapps
