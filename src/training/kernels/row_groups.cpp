// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/row_groups.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace tutti::kernels {

namespace {

constexpr std::size_t hash_limit = 2048;
constexpr std::size_t split_limit = std::size_t{1} << 27;
constexpr unsigned largest_digit = 11;

// Each row has a chain of its occurrences: links[i] is the next one, slots hold first occurrences (plus one).
std::span<const Occurrence> chain_rows(GroupScratch& scratch) {
  const std::size_t n = scratch.input.size();
  const auto bits = static_cast<unsigned>(std::bit_width(2 * n));
  scratch.slots.assign(std::size_t{1} << bits, 0);
  scratch.links.resize(2 * n);
  scratch.other.resize(n);
  std::uint32_t* next = scratch.links.data();
  std::uint32_t* tail = next + n;  // of a first occurrence: the last of its chain; of a later one: none
  constexpr std::uint32_t none = 0xffffffffU;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = row_of(scratch.input[i]);
    std::size_t slot = (row * 0x9e3779b1U) >> (32 - bits);
    while (scratch.slots[slot] != 0 && row_of(scratch.input[scratch.slots[slot] - 1]) != row) {
      slot = (slot + 1) & (scratch.slots.size() - 1);
    }
    next[i] = none;
    if (scratch.slots[slot] == 0) {
      scratch.slots[slot] = static_cast<std::uint32_t>(i + 1);
      tail[i] = static_cast<std::uint32_t>(i);
    } else {
      const std::uint32_t first = scratch.slots[slot] - 1;
      next[tail[first]] = static_cast<std::uint32_t>(i);
      tail[first] = static_cast<std::uint32_t>(i);
      tail[i] = none;
    }
  }
  std::size_t written = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (tail[i] == none) continue;
    for (auto at = static_cast<std::uint32_t>(i); at != none; at = next[at]) {
      scratch.other[written++] = scratch.input[at];
    }
  }
  return scratch.other;
}

/// Sorts n occurrences with `other` as second buffer of n, and returns the buffer that has the result.
Occurrence* sort_rows(Occurrence* from, Occurrence* other, std::size_t n, std::uint64_t rows) {
  const auto bits = static_cast<unsigned>(std::bit_width(rows > 0 ? rows - 1 : 0));
  const unsigned passes = std::max(1U, (bits + largest_digit - 1) / largest_digit);
  const unsigned digit = std::max(1U, (bits + passes - 1) / passes);
  const Occurrence mask = (Occurrence{1} << digit) - 1;
  std::array<std::array<std::uint32_t, std::size_t{1} << largest_digit>, 3> starts{};
  for (std::size_t i = 0; i < n; ++i) {
    for (unsigned pass = 0; pass < passes; ++pass) ++starts[pass][(from[i] >> (32 + pass * digit)) & mask];
  }
  for (unsigned pass = 0; pass < passes; ++pass) {
    auto& start = starts[pass];
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k <= mask; ++k) sum += std::exchange(start[k], sum);
    for (std::size_t i = 0; i < n; ++i) {
      other[start[(from[i] >> (32 + pass * digit)) & mask]++] = from[i];
    }
    std::swap(from, other);
  }
  return from;
}

}  // namespace

std::span<const Occurrence> group_rows(GroupScratch& scratch, std::uint64_t rows, GroupOrder order) {
  const std::size_t n = scratch.input.size();
  if (order == GroupOrder::any && n <= hash_limit) return chain_rows(scratch);
  scratch.other.resize(n);
  return {sort_rows(scratch.input.data(), scratch.other.data(), n, rows), n};
}

bool worth_splitting(std::size_t count, std::uint64_t rows) {
  return count > hash_limit && count <= split_limit && rows / 2 > count;
}

std::span<const Occurrence> join_rows(GroupScratch& scratch, std::size_t once, std::size_t repeated,
                                      std::uint64_t rows) {
  scratch.input.resize(repeated);
  const Occurrence* sorted = sort_rows(scratch.repeated.data(), scratch.input.data(), repeated, rows);
  std::copy_n(sorted, repeated, scratch.other.data() + once);
  return {scratch.other.data(), once + repeated};
}

}  // namespace tutti::kernels
