// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>

#include "schedules/blocks.hpp"

namespace tutti::schedules {

/// The distances between the two places that exchange in a step, from the nearest to the farthest.
enum class Distances : std::uint8_t {
  doubling,  ///< 1, 2, 4, 8, ...: the numbers of two partners differ in one binary digit
  bine,  ///< 1, 1, 3, 5, 11, ...: up for one of two neighbours and down for the other, the first place behind the last
};

/// What an even place adds in Bine's step, and an odd one subtracts: 1, -1, 3, -5, 11, ..., the sums of the powers of
/// -2. Every two partners are a third nearer than those whose distances double. De Sensi et al., Bine Trees: Enhancing
/// Collective Operations by Optimizing Communication Locality, SC 2025.
[[nodiscard]] constexpr int bine_offset(int step) {
  const std::int64_t power = std::int64_t{1} << (step + 1);
  return static_cast<int>((1 + (step % 2 == 0 ? power : -power)) / 3);
}
[[nodiscard]] constexpr int bine_distance(int step) { return step % 2 == 0 ? bine_offset(step) : -bine_offset(step); }

/// Whether the partner of Bine's step is above, round the last place.
[[nodiscard]] constexpr bool is_bine_partner_above(int place, int step) { return (place + step) % 2 == 0; }

/// The partner, and its partner is this place, among an even number of places.
[[nodiscard]] constexpr int bine_partner(int place, int step, int size) {
  const int way = is_bine_partner_above(place, step) ? bine_distance(step) : -bine_distance(step);
  return wrap(place + way, size);
}

/// Places that follow one another, the first behind the last.
struct Run {
  int first = 0;
  int count = 0;
};

/// Those whose blocks a place has after Bine's first steps, if each passes on what it has: 2^steps, if there are as
/// many.
[[nodiscard]] constexpr Run bine_run(int place, int steps, int size) {
  const int longer = static_cast<int>((std::int64_t{2} << steps) / 3);
  const int shorter = static_cast<int>((std::int64_t{1} << steps) / 3);
  const bool is_longer_below = (place + steps) % 2 == 0;
  return {wrap(place - (is_longer_below ? longer : shorter), size), 1 << steps};
}

}  // namespace tutti::schedules
