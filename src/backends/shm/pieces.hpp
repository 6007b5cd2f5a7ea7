// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "backends/shm/exchange.hpp"

/// The division of a single copy's work into pieces, and the way ranks take them. All ranks compute the same division.
namespace tutti::detail::shm {

/// Takes the next of `total` pieces; returns false if none is left.
[[nodiscard]] inline bool take_piece(std::atomic<std::uint64_t>& word, Generation generation, std::size_t total,
                                     std::size_t& index) {
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (true) {
    const std::uint64_t count = count_of(seen, generation);
    if (count >= total) return false;
    if (word.compare_exchange_weak(seen, tagged(generation, count + 1), std::memory_order_relaxed)) {
      index = count;
      return true;
    }
  }
}

inline void finish_piece(std::atomic<std::uint64_t>& word, Generation generation) {
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(seen, tagged(generation, count_of(seen, generation) + 1),
                                     std::memory_order_release, std::memory_order_relaxed)) {
  }
}

/// The same for a single piece that no other rank can take: it needs no claim, and no look at the word, which others
/// poll.
inline void finish_unclaimed(std::atomic<std::uint64_t>& word, Generation generation) {
  word.store(tagged(generation, 1), std::memory_order_release);
}

[[nodiscard]] inline bool is_finished(const std::atomic<std::uint64_t>& word, Generation generation,
                                      std::size_t total) {
  return count_of(word.load(std::memory_order_acquire), generation) >= total;
}

inline constexpr std::size_t page = 4096;

/// The size of one piece that is moved between two ranks, in bytes. In a one-sided transfer each side does about half,
/// or the root less, which has a block of its own to copy; if both ranks take from each other, each has enough to do,
/// and one call of the kernel is the fastest. An exclusive scan moves data between two ranks only.
[[nodiscard]] inline std::size_t moved_piece(Operation operation, std::size_t bytes) {
  constexpr std::size_t most = 256 * page;
  const bool hands_on = operation == Operation::bcast || operation == Operation::exscan;
  const bool has_own_block = tutti::has_root(operation) && !tutti::combines(operation) && !hands_on;
  if (!hands_on && !has_own_block) return std::clamp(bytes, page, most);
  const std::size_t pieces = bytes > (has_own_block ? 24 * page : most / 2) ? 4 : 2;
  return std::clamp(ceil_div(ceil_div(bytes, pieces), page) * page, 8 * page, most);
}

/// A range of the result that is divided into pieces, in bytes of every rank's source.
struct ByteRange {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

/// The root alone does a reduction of at most this size, with one call of the kernel per rank.
inline constexpr std::size_t root_alone_bytes = 8 * page;

/// Returns true if each rank reads the vectors of all and makes the result for itself: a blocking allreduce of at most
/// that size, over the other ranks. The second half of the sum costs less than another call of the kernel, but more
/// than a store to mapped memory.
[[nodiscard]] inline bool is_made_by_each(const Signature& s, int size, bool mapped_copy) {
  return s.operation == Operation::allreduce && s.kind == CallKind::blocking && !mapped_copy && size > 1 &&
         s.count * s.type.size() <= root_alone_bytes / static_cast<std::size_t>(size - 1);
}

/// In a reduce the root's own range is larger, because the results of the other ranks must also be copied to it.
[[nodiscard]] inline Block share_of_range(const Shape& who, std::size_t count, int index) {
  if (who.operation() != Operation::reduce) return schedules::even_block(count, who.size(), index);
  if (count * cache_line <= root_alone_bytes) return {index > who.root() ? count : 0, index == who.root() ? count : 0};
  const auto ranks = static_cast<std::size_t>(who.size());
  const std::size_t whole = ranks + (ranks - 1) * (ranks - 1);
  const auto begin_of = [&](int rank) {
    const auto before = static_cast<std::size_t>(rank);
    return count * (before * (ranks - 1) + (rank > who.root() ? 1 : 0)) / whole;
  };
  return {begin_of(index), begin_of(index + 1) - begin_of(index)};
}

[[nodiscard]] inline ByteRange range_of(const Shape& who, std::size_t unit, int index) {
  Block block = who.part(index);
  if (!who.is_split()) {
    // Cut at whole lines, so that no two ranks write the same line.
    const std::size_t grain = std::max<std::size_t>(1, cache_line / unit);
    const Block lines = share_of_range(who, ceil_div(block.count, grain), index);
    const std::size_t begin = std::min(lines.offset * grain, block.count);
    block = {begin, std::min((lines.offset + lines.count) * grain, block.count) - begin};
  }
  return {block.offset * unit, block.count * unit};
}

/// The size of one piece of a combined range, so that all ranks' pieces together stay in the cache, in bytes; then the
/// same as a multiple of the element size.
[[nodiscard]] inline std::size_t combined_piece_bytes(int size) {
  return std::clamp<std::size_t>(128 * page / static_cast<std::size_t>(size), 4 * page, 64 * page);
}
[[nodiscard]] inline std::size_t combined_piece(const Shape& who, std::size_t unit) {
  const std::size_t wanted = combined_piece_bytes(who.size());
  return std::max<std::size_t>(1, wanted / unit) * unit;
}

}  // namespace tutti::detail::shm
