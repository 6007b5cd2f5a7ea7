// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

#include "training/embedding/batch_lookups.hpp"
#include "training/embedding/shard_tables.hpp"

namespace tutti::detail {

/// Gives the host access to whole rows of a piece: where they are if all rows are in host memory, else to a copy of
/// some rows.
class RowsOnHost {
 public:
  enum class Content : std::uint8_t { rows, rows_and_state };

  /// The state of rows on a device is not copied.
  RowsOnHost(const CollectionFacts& facts, const ShardTables& tables, std::size_t i, std::int64_t first_row,
             std::int64_t rows, Content content = Content::rows);
  RowsOnHost(const RowsOnHost&) = delete;
  RowsOnHost& operator=(const RowsOnHost&) = delete;
  /// Copies the rows from the device, after the work that is on the stream now, or from the cache; or back to it.
  /// Blocking. Nothing happens for rows in host memory.
  void read() const;
  void write() const;
  [[nodiscard]] const kernels::EmbeddingTable& table() const { return table_; }
  [[nodiscard]] float* state() const { return state_; }
  /// The first of the rows, counted in table().
  [[nodiscard]] std::int64_t first_row() const { return is_copy_ ? 0 : first_row_; }

 private:
  [[nodiscard]] RowArrays arrays() const;
  void copy_on_device(bool to_host) const;

  const CollectionFacts* facts_;
  const ShardTables* tables_;
  std::size_t piece_;
  std::int64_t first_row_;
  bool is_copy_;
  mutable std::vector<std::byte> weights_;
  mutable std::vector<kernels::RowScale> scales_;
  mutable std::vector<float> states_;
  kernels::EmbeddingTable table_;
  float* state_;
};

}  // namespace tutti::detail
