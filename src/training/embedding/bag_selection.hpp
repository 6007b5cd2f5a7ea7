// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

namespace tutti::detail {

/// Which part of a table's bags is wanted.
struct BagSelection {
  std::size_t first_bag = 0;
  std::size_t bags = 0;
  std::int64_t rows = 0;  ///< of the whole table
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  kernels::IndexPolicy policy = kernels::IndexPolicy::fatal;
  bool weighted = false;
};

[[nodiscard]] inline std::size_t index_bytes(kernels::IndexType type) {
  return type == kernels::IndexType::int32 ? sizeof(std::int32_t) : sizeof(std::int64_t);
}

/// Ragged bags of one or more tables one after the other; keeps its memory.
struct SelectedBags {
  std::vector<std::int32_t> lengths;
  std::vector<std::byte> indices;  ///< of the input's type, counted from the selection's first row
  std::vector<float> weights;
  std::size_t count = 0;  ///< indices

  void clear() {
    lengths.clear();
    count = 0;
  }
};

/// Appends the indices of the selection that are in its rows, in their order.
void select_bags(const kernels::TableLookups& from, kernels::IndexType type, const BagSelection& selection,
                 SelectedBags& to);

/// offsets[i + 1] - offsets[i] = lengths[i].
void lengths_to_offsets(std::span<const std::int32_t> lengths, std::vector<std::int64_t>& offsets);

}  // namespace tutti::detail
