// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "training/embedding/collection_sections.hpp"
#include "training/embedding/shard_tables.hpp"

namespace tutti::detail {

/// Values laid out as [rows][parts][columns]: rows (1 part), scales and row-wise state (1 part of 1 column),
/// state of Adagrad and Adam (1 and 2 parts).
struct RowGrid {
  std::string content;
  std::byte* RowArrays::*array = nullptr;  ///< of the rows' arrays
  const std::byte* data = nullptr;         ///< null if they are cached
  Block block;
  std::size_t parts = 1;
  std::size_t value_bytes = 0;
  /// Of a row, here and in a checkpoint.
  [[nodiscard]] std::size_t row_bytes() const;
};

/// The type of the rows that a section has; DatatypeKind::bytes if its content is not rows.
[[nodiscard]] DatatypeKind row_type(const std::string& content);
/// The type of the values of a grid; scales and states are float32.
[[nodiscard]] DatatypeKind value_type(const std::string& content);

/// The grids of one piece: its rows, their scales and their optimizer state.
class PieceGrids {
 public:
  PieceGrids(const CollectionFacts& facts, const ShardTables& tables, std::size_t i);

  [[nodiscard]] const TableShard& shard() const { return shard_; }
  [[nodiscard]] const EmbeddingTableConfig& config() const { return config_; }
  [[nodiscard]] const RowGrid& rows() const { return grids_.front(); }
  [[nodiscard]] const std::vector<RowGrid>& all() const { return grids_; }
  /// Null if the optimizer has no state.
  [[nodiscard]] const RowGrid* state(kernels::RowOptimizer optimizer) const;

 private:
  TableShard shard_;
  const EmbeddingTableConfig& config_;
  std::vector<RowGrid> grids_;
};

/// The same tables in host memory, with a copy of the rows of a device.
[[nodiscard]] std::shared_ptr<ShardTables> copy_on_host(const ShardTables& tables, const CollectionFacts& facts);

}  // namespace tutti::detail
