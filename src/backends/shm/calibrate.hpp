// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "backends/shm/arena.hpp"
#include "call/costs.hpp"

namespace tutti::detail::shm {

/// The lengths of the pieces by which the copies through a slot and through a ring are measured, in bytes: that of the
/// chunks of `slots`, and one within a core's caches.
inline constexpr std::size_t short_piece = 4096;
inline constexpr std::size_t long_piece = std::size_t{64} << 10U;

/// Measures the costs of loads, stores and kernel copies between this rank and the rank half the ranks away, all pairs
/// at the same time; for a check only lines, whose time tells how far apart the cores are. A rank without a partner
/// measures nothing and keeps `costs`. The arena must be unused so far. Collective over its ranks; takes a few
/// milliseconds; yields while it waits.
void calibrate(Arena& arena, Costs& costs, Calibration kind);

/// What copies of chunks by one rank through memory of another cost: a long chunk has a start, because nobody fetches
/// its first lines ahead; a short chunk has no other lines.
struct Pace {
  double start = 0;       ///< seconds a chunk
  double byte = 0;        ///< seconds a byte behind the start
  double short_byte = 0;  ///< of chunks of up to short_piece, without a start

  [[nodiscard]] double seconds(double bytes, double chunks) const {
    return bytes > 0 ? std::min(start * chunks + bytes * byte, bytes * short_byte) : 0;
  }
};

/// The pace at which chunks of the two lengths that were measured take so many seconds a byte.
[[nodiscard]] inline Pace pace_of(double short_byte, double long_byte) {
  constexpr auto shorter = static_cast<double>(short_piece);
  constexpr auto longer = static_cast<double>(long_piece);
  const double start = std::max(0.0, short_byte - long_byte) / (1 / shorter - 1 / longer);
  return {start, std::max(0.0, long_byte - start / longer), std::max(short_byte, long_byte)};
}

/// The same with the start of `near`, through a longer ring.
[[nodiscard]] inline Pace further(const Pace& near, double long_byte) {
  constexpr auto longer = static_cast<double>(long_piece);
  const double byte = std::max(0.0, long_byte - near.start / longer);
  return {near.start, byte, byte + near.start / static_cast<double>(short_piece)};
}

[[nodiscard]] inline Pace writing_pace(const Costs& costs) { return pace_of(costs.slot_write, costs.stream_write); }
[[nodiscard]] inline Pace reading_pace(const Costs& costs) { return pace_of(costs.slot_read, costs.stream_read); }

}  // namespace tutti::detail::shm
