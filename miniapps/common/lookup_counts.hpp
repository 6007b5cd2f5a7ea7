// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tutti/row_frequencies.hpp>
#include <vector>

namespace tutti::miniapps {

/// How often rows of a table occur in data, as EmbeddingTableConfig has it; empty where none do.
struct LookupCounts {
  std::vector<double> shares{};  ///< of equally large blocks of rows, in their order
  tutti::RowFrequencies frequencies{};
};

/// The number of blocks in which the lookups of a table are counted.
[[nodiscard]] inline std::size_t lookup_blocks(std::uint64_t rows) {
  constexpr std::uint64_t most = 1024;
  return static_cast<std::size_t>(std::min(rows, most));
}

/// The block of a row.
[[nodiscard]] inline std::size_t lookup_block(std::uint64_t row, std::uint64_t rows) {
  return static_cast<std::size_t>(row * lookup_blocks(rows) / rows);
}

}  // namespace tutti::miniapps
