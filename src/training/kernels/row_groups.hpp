// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Brings the occurrences of each row together.
namespace tutti::kernels {

/// An occurrence of a row: (row << 32) | payload, where the payload names the bag or the position.
using Occurrence = std::uint64_t;

inline std::uint32_t row_of(Occurrence occurrence) { return static_cast<std::uint32_t>(occurrence >> 32); }
inline std::uint32_t payload_of(Occurrence occurrence) { return static_cast<std::uint32_t>(occurrence); }

/// Reusable memory of group_rows and split_rows.
struct GroupScratch {
  std::vector<Occurrence> input;  ///< filled by the caller of group_rows; grouping overwrites it
  std::vector<Occurrence> other;
  std::vector<Occurrence> repeated;
  std::vector<std::uint64_t> seen;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> links;
};

enum class GroupOrder : std::uint8_t { any, ascending };

/// Returns the occurrences of scratch.input with those of each row as neighbours, in the order given. If any order of
/// rows will do, few occurrences are chained through a hash table, and rows come in the order of first sight. Others
/// are sorted by row with a stable radix sort over the bits that rows below `rows` need. The span is valid until the
/// scratch is used again.
std::span<const Occurrence> group_rows(GroupScratch& scratch, std::uint64_t rows, GroupOrder order = GroupOrder::any);

/// Whether split_rows is faster than group_rows for about `count` occurrences.
bool worth_splitting(std::size_t count, std::uint64_t rows);

/// A filter that finds rows which certainly occur once. It has two bits per slot, seen and seen again, and 32 slots per
/// word.
class RowFilter {
 public:
  RowFilter(std::vector<std::uint64_t>& words, std::size_t count)
      : bits_(std::max(5U, static_cast<unsigned>(std::bit_width(8 * count)))),
        mask_(static_cast<std::uint32_t>((std::uint64_t{1} << bits_) - 1)) {
    words.assign(std::size_t{1} << (bits_ - 5), 0);
    words_ = words.data();
  }
  void add(Occurrence occurrence, bool mine) {
    const std::uint32_t slot = slot_of(occurrence);
    std::uint64_t& word = words_[slot >> 5];
    const std::uint64_t bit = std::uint64_t{mine} << (slot & 31);
    word |= bit | ((word & bit) << 32);
  }
  [[nodiscard]] bool repeated(Occurrence occurrence) const {
    const std::uint32_t slot = slot_of(occurrence);
    return ((words_[slot >> 5] >> (32 + (slot & 31))) & 1) != 0;
  }

 private:
  [[nodiscard]] std::uint32_t slot_of(Occurrence occurrence) const {
    const std::uint64_t row = row_of(occurrence);
    return static_cast<std::uint32_t>(row ^ (row >> bits_)) & mask_;
  }

  unsigned bits_;
  std::uint32_t mask_;
  std::uint64_t* words_ = nullptr;
};

/// Puts the `repeated` first occurrences of scratch.repeated, sorted by row, after the `once` first of scratch.other.
std::span<const Occurrence> join_rows(GroupScratch& scratch, std::size_t once, std::size_t repeated,
                                      std::uint64_t rows);

/// Like group_rows, but rows that occur once come first, in the order given: they need no sorting, and each of their
/// gradients comes from one place. for_each(visit) calls visit(occurrence, mine) at most `most` times, and does the
/// same when it is called again. Occurrences that are not `mine` are left out.
template <typename ForEach>
std::span<const Occurrence> split_rows(GroupScratch& scratch, std::uint64_t rows, std::size_t most,
                                       const ForEach& for_each) {
  RowFilter filter(scratch.seen, most);
  for_each([&](Occurrence occurrence, bool mine) { filter.add(occurrence, mine); });
  scratch.other.resize(most + 1);
  scratch.repeated.resize(most + 1);
  Occurrence* once = scratch.other.data();
  Occurrence* repeated = scratch.repeated.data();
  for_each([&](Occurrence occurrence, bool mine) {
    const bool again = filter.repeated(occurrence);
    *once = *repeated = occurrence;
    once += static_cast<int>(mine) & static_cast<int>(!again);
    repeated += static_cast<int>(mine) & static_cast<int>(again);
  });
  return join_rows(scratch, static_cast<std::size_t>(once - scratch.other.data()),
                   static_cast<std::size_t>(repeated - scratch.repeated.data()), rows);
}

}  // namespace tutti::kernels
