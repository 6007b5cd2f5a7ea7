// SPDX-License-Identifier: BSD-3-Clause
// Numbers that depend on a seed alone, so that all ranks draw the same ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace tutti::fuzz {

/// Mixes numbers into one (SplitMix64 by Steele, Lea and Flood, 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

constexpr std::uint64_t mix(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t state = 0;
  for (const std::uint64_t number : numbers) state = mix(state ^ mix(number));
  return state;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() { return mix(state_++); }
  /// A number from 0 to `end` - 1.
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(bits() % end); }
  int below(int end) { return static_cast<int>(below(static_cast<std::size_t>(end))); }
  /// True once in `turns` times.
  bool once_in(int turns) { return below(turns) == 0; }

  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  template <typename T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      const std::size_t other = below(i);
      const T kept = values[i - 1];
      values[i - 1] = values[other];
      values[other] = kept;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace tutti::fuzz
