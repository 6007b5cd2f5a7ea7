// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

#include "training/embedding/batch_lookups.hpp"

namespace tutti::detail {

/// Gives the host access to whole rows of a shard: to the shard itself if it is in host memory, else to a copy of some
/// rows.
class RowsOnHost {
 public:
  RowsOnHost(const CollectionFacts& facts, const kernels::EmbeddingTable& shard, std::int64_t first_row,
             std::int64_t rows);
  /// Copies the rows from the device, after the work that is on the stream now; or back to it. Blocking. Nothing
  /// happens for rows in host memory.
  void read() const { copy(true); }
  void write() const { copy(false); }
  [[nodiscard]] const kernels::EmbeddingTable& table() const { return table_; }
  /// The first of the rows, counted in table().
  [[nodiscard]] std::int64_t first_row() const { return facts_->on_device() ? 0 : first_row_; }

 private:
  void copy(bool to_host) const;

  const CollectionFacts* facts_;
  const kernels::EmbeddingTable* shard_;
  std::int64_t first_row_;
  mutable std::vector<std::byte> weights_;
  mutable std::vector<kernels::RowScale> scales_;
  kernels::EmbeddingTable table_;
};

}  // namespace tutti::detail
