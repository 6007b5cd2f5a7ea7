// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "backends/shm/layout.hpp"
#include "schedules/registry.hpp"

/// The division of blocks into chunks that pass through the rings. All ranks compute the same division.
namespace tutti::detail::shm {

/// Returns true if some ranks only give and others only take.
[[nodiscard]] inline bool goes_one_way(Operation operation) { return has_root(operation) || is_prefix(operation); }

/// The number of blocks that a giver has in its ring at a time: a rank gives itself nothing.
[[nodiscard]] inline std::size_t blocks_in_ring(Operation operation, int size) {
  return static_cast<std::size_t>(tutti::is_split(operation) ? std::max(size - 1, 1) : 1);
}

/// The most of a ring that a block of one call takes, in whole lines. Calls take turns in a near ring; a wide one may
/// be all of one call's.
[[nodiscard]] inline std::size_t most_of_ring(RingKind kind, Operation operation, int size) {
  const std::size_t bytes = kind == RingKind::near ? stream_bytes : ring_bytes(kind);
  return bytes / blocks_in_ring(operation, size) / cache_line * cache_line;
}

/// The longest chunk of a block that the most of a near ring does not hold. Where each rank gives and takes, that holds
/// two; where data go one way, four, so that the giver fills some while the taker empties another.
[[nodiscard]] inline std::size_t longest_chunk(Operation operation, std::size_t most) {
  return std::max(most / (goes_one_way(operation) ? 4 : 2) / cache_line * cache_line, cache_line);
}

/// The size of the chunks of a block, in whole lines, or in whole elements of `grain` bytes if they are combined. most:
/// most_of_ring() of a near ring. Where each rank gives and takes, nobody waits for a first chunk, so there are few.
/// Where data go one way, a taker waits for a whole chunk before it can begin, and every chunk costs the lines of its
/// flag: with chunks of sqrt(l * b) bytes the sum of both is least, where l bytes pass while a line changes hands: half
/// to all of a kilobyte on the processors measured, with cores near each other or far.
[[nodiscard]] inline std::size_t chunk_of(Operation operation, std::size_t block, std::size_t most,
                                          std::size_t grain = 1) {
  constexpr double copied_in_a_turn = 1024;
  const bool one_way = goes_one_way(operation);
  const std::size_t longest = one_way || block > most ? longest_chunk(operation, most) : most;
  const auto wanted =
      one_way ? static_cast<std::size_t>(std::sqrt(copied_in_a_turn * static_cast<double>(block))) : block;
  const std::size_t best = std::clamp(wanted, cache_line, longest);
  const std::size_t fewest = ceil_div(block, longest);
  const std::size_t chunks = std::max({(block + best / 2) / best, fewest, std::size_t{1}});
  const std::size_t lines = std::max(combined_room(ceil_div(block, chunks)), cache_line);
  return std::max<std::size_t>(lines / grain, 1) * grain;
}

/// The way of a call through a giver's ring.
struct RingCut {
  std::size_t chunk = 0;     ///< bytes
  std::uint64_t chunks = 1;  ///< of the longest block
  std::size_t share = 0;     ///< of the ring, for one block, bytes in whole lines
  std::uint64_t places = 1;  ///< chunks that a share holds
};

[[nodiscard]] inline RingCut cut_for(RingKind kind, Operation operation, std::size_t block, int size,
                                     std::size_t grain) {
  RingCut cut;
  cut.chunk = chunk_of(operation, block, most_of_ring(RingKind::near, operation, size), grain);
  cut.chunks = std::max<std::uint64_t>(ceil_div(block, cut.chunk), 1);
  const std::size_t most = most_of_ring(kind, operation, size);
  cut.share = std::min<std::size_t>(combined_room(cut.chunks * cut.chunk), most);
  cut.places = std::min<std::uint64_t>(cut.chunks, cut.share / cut.chunk);
  return cut;
}

}  // namespace tutti::detail::shm
