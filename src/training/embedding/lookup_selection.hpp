// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/table_rows.hpp>
#include <vector>

namespace tutti::detail {

[[nodiscard]] inline std::size_t index_bytes(kernels::IndexType type) {
  return type == kernels::IndexType::int32 ? sizeof(std::int32_t) : sizeof(std::int64_t);
}

/// Lookups in memory of their own, which is kept for the next batch: the bags of one table, or of several tables one
/// after the other.
struct OwnedLookups {
  std::vector<std::int32_t> lengths;  ///< indices in each bag
  std::vector<std::int64_t> offsets;
  std::vector<std::byte> indices;  ///< of the input's type, places among the rows that were selected
  std::vector<float> weights;
  std::size_t count = 0;  ///< indices

  void clear() {
    lengths.clear();
    count = 0;
  }
  /// Makes the offsets from the lengths.
  void set_offsets();
  /// The bags as kernels take them; needs the offsets. Valid until the next change.
  [[nodiscard]] kernels::TableLookups view(bool weighted) const {
    return {indices.data(), offsets.data(), weighted ? weights.data() : nullptr};
  }
};

/// Selects some bags of a table, and of their indices the ones of some rows, whose places they become.
struct LookupSelection {
  std::size_t first_bag = 0;
  std::size_t bags = 0;
  std::int64_t rows = 0;  ///< rows of the whole table
  TableRows kept{};
  kernels::IndexPolicy policy = kernels::IndexPolicy::fatal;
  bool weighted = false;
};

/// Appends the selected indices, in their order.
void select_lookups(const kernels::TableLookups& from, kernels::IndexType type, const LookupSelection& selection,
                    OwnedLookups& to);

}  // namespace tutti::detail
