// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

#include "training/embedding/batch_bags.hpp"

namespace tutti::detail {

/// Whole rows of a shard where the host reads and writes them: the shard itself where it is in host memory, else a copy
/// of so many rows.
class RowsOnHost {
 public:
  RowsOnHost(const CollectionFacts& facts, const kernels::EmbeddingTable& shard, std::int64_t first_row,
             std::int64_t rows);
  /// What the copy holds is what the device has, after the work on the stream so far; or the reverse. Waits.
  void read() const { copy(true); }
  void write() const { copy(false); }
  [[nodiscard]] const kernels::EmbeddingTable& table() const { return table_; }
  /// In table().
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
