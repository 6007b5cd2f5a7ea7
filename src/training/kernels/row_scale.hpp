// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <tutti/kernels/embedding_bag.hpp>

#include "training/kernels/lanes.hpp"

/// Scales of rows of bytes.
namespace tutti::kernels {

template <typename Choose>
inline float choose_lane(const Lanes& from, const Choose& choose) {
  float lanes[lane_count];
  store_lanes(lanes, from);
  for (std::size_t width = lane_count / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) lanes[k] = choose(lanes[k], lanes[k + width]);
  }
  return lanes[0];
}

/// The scale that maps the least value to 0 and the largest to 255. `from` is readable up to a multiple of
/// lane_count values; those after `count` repeat one of the row. A value that is not finite makes the bias a NaN, and
/// so all values.
inline RowScale scale_of(const float* from, std::size_t count) {
  Lanes least;
  load_lanes(least, from);
  Lanes largest = least;
  UintLanes special = {};
  for (std::size_t d = 0; d < count; d += lane_count) {
    Lanes x;
    load_lanes(x, from + d);
    least = x < least ? x : least;
    largest = x > largest ? x : largest;
    UintLanes word;
    Arithmetic<Lanes>::bits_of(word, x);
    special |= reinterpret_cast<UintLanes>((word & 0x7f800000U) == 0x7f800000U);
  }
  const auto lesser = [](float a, float b) { return a < b ? a : b; };
  const auto larger = [](float a, float b) { return a > b ? a : b; };
  std::uint64_t words[sizeof special / sizeof(std::uint64_t)];
  std::memcpy(words, &special, sizeof special);
  for (std::size_t k = 1; k < std::size(words); ++k) words[0] |= words[k];
  return scale_between(choose_lane(least, lesser), choose_lane(largest, larger), words[0] != 0);
}

}  // namespace tutti::kernels
