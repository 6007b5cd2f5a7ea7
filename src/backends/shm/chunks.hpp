// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backends/shm/layout.hpp"
#include "schedules/registry.hpp"

/// The division of long blocks into chunks that pass through the stream buffers. All ranks compute the same division.
namespace tutti::detail::shm {

/// Returns true if some ranks only give and others only take.
[[nodiscard]] inline bool goes_one_way(schedules::Operation operation) {
  return schedules::has_root(operation) || operation == schedules::Operation::scan ||
         operation == schedules::Operation::exscan;
}

/// The part of a rank's stream buffer for one block, in whole lines: a rank gives itself nothing.
[[nodiscard]] inline std::size_t stream_share(schedules::Operation operation, int size) {
  const auto takers = static_cast<std::size_t>(schedules::is_split(operation) ? std::max(size - 1, 1) : 1);
  return stream_bytes / takers / cache_line * cache_line;
}

/// The longest chunk of a block that a buffer does not hold. Where each rank gives and takes, a buffer holds two; where
/// data go one way, four, so that the giver fills some while the taker empties another.
[[nodiscard]] inline std::size_t longest_chunk(schedules::Operation operation, std::size_t share) {
  return std::max(share / (goes_one_way(operation) ? 4 : 2), cache_line);
}

/// From this size on memcpy may write whole lines without fetching them first, which is several times as fast where the
/// lines are in another core's cache.
inline constexpr std::size_t long_piece = std::size_t{16} << 10U;

/// The size of a chunk of a block, in whole lines, or in whole elements of `grain` bytes if they are combined. Every
/// chunk costs the lines of its flags, so there are few. Where data go one way, a taker waits for a whole chunk before
/// it can begin: with chunks of sqrt(l * b) bytes the sum of both is least, where l bytes are copied while a line
/// changes hands: a page or less on all processors measured.
[[nodiscard]] inline std::size_t stream_chunk(schedules::Operation operation, std::size_t block, std::size_t share,
                                              std::size_t grain = 1) {
  constexpr double copied_in_a_turn = 4096;
  const auto shortest = static_cast<std::size_t>(std::sqrt(copied_in_a_turn * static_cast<double>(block)));
  const bool one_way = goes_one_way(operation);
  const std::size_t best = one_way ? std::max(shortest, std::min(block, long_piece)) : block;
  const std::size_t longest = one_way || block > share ? longest_chunk(operation, share) : share;
  const std::size_t lines = std::clamp(combined_room(best), cache_line, longest / cache_line * cache_line);
  return std::max<std::size_t>(lines / grain, 1) * grain;
}

}  // namespace tutti::detail::shm
