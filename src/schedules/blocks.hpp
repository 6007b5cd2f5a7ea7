// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "operation/operation.hpp"

namespace tutti::schedules {

using tutti::Block;
using Blocks = std::vector<Block>;

/// Block i of a vector of count elements over `parts` parts: the first count % parts blocks are one longer.
[[nodiscard]] constexpr Block even_block(std::size_t count, int parts, int i) {
  const std::size_t n = static_cast<std::size_t>(parts);
  const std::size_t index = static_cast<std::size_t>(i);
  const std::size_t rest = count % n;
  return {index * (count / n) + std::min(index, rest), count / n + (index < rest ? 1 : 0)};
}

[[nodiscard]] inline Blocks even_blocks(std::size_t count, int parts) {
  Blocks blocks;
  for (int i = 0; i < parts; ++i) blocks.push_back(even_block(count, parts, i));
  return blocks;
}

/// `parts` blocks of count elements each.
[[nodiscard]] inline Blocks uniform_blocks(std::size_t count, int parts) {
  Blocks blocks;
  for (int i = 0; i < parts; ++i) blocks.push_back({static_cast<std::size_t>(i) * count, count});
  return blocks;
}

/// Blocks of the given counts one after the other.
[[nodiscard]] inline Blocks packed_blocks(std::span<const std::size_t> counts) {
  Blocks blocks;
  std::size_t offset = 0;
  for (const std::size_t count : counts) {
    blocks.push_back({offset, count});
    offset += count;
  }
  return blocks;
}

/// Blocks of the given counts at the given displacements.
[[nodiscard]] inline Blocks placed_blocks(std::span<const std::size_t> counts, std::span<const std::size_t> displs) {
  Blocks blocks;
  for (std::size_t i = 0; i < counts.size(); ++i) blocks.push_back({displs[i], counts[i]});
  return blocks;
}

[[nodiscard]] inline std::size_t largest_count(const Blocks& blocks) {
  std::size_t largest = 0;
  for (const Block& block : blocks) largest = std::max(largest, block.count);
  return largest;
}

/// The counts and displacements of blocks, as v-forms take them.
struct CountLists {
  explicit CountLists(const Blocks& blocks) {
    for (const Block& block : blocks) {
      counts.push_back(block.count);
      displs.push_back(block.offset);
    }
  }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displs;
};

/// The end of the last block that is not empty.
[[nodiscard]] inline std::size_t end_of(const Blocks& blocks) {
  std::size_t end = 0;
  for (const Block& block : blocks)
    if (block.count > 0) end = std::max(end, block.offset + block.count);
  return end;
}

/// i modulo n in [0, n), for i >= -n.
[[nodiscard]] constexpr int wrap(int i, int n) { return (i + n) % n; }

/// Largest power of two that is not above n >= 1, and its logarithm.
[[nodiscard]] constexpr int floor_power(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }
[[nodiscard]] constexpr int floor_log2(int n) { return std::bit_width(static_cast<unsigned>(n)) - 1; }
[[nodiscard]] constexpr int ceil_log2(int n) { return n <= 1 ? 0 : std::bit_width(static_cast<unsigned>(n - 1)); }

}  // namespace tutti::schedules
