// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/piece_map.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::detail {

PieceMap::PieceMap(std::span<const EmbeddingTableConfig> tables, const ShardingPlan& plan)
    : pieces_(static_cast<std::size_t>(plan.ranks)),
      vector_widths_(pieces_.size(), 0),
      gradient_widths_(pieces_.size(), 0),
      tables_(tables.size()) {
  for (const TableShard& shard : plan.shards) {
    const auto r = static_cast<std::size_t>(shard.rank);
    TablePieces& table = tables_[shard.table];
    table.replicated = plan.shardings[shard.table] == Sharding::data_parallel;
    table.rows_divided |= shard.rows() < tables[shard.table].rows;
    table.columns_divided |= shard.columns() < tables[shard.table].dim;
    table.references.push_back({shard.rank, pieces_[r].size()});
    pieces_[r].push_back({shard, table.replicated, vector_widths_[r], gradient_widths_[r]});
    vector_widths_[r] += table.replicated ? 0 : shard.columns();
    gradient_widths_[r] += shard.columns();
  }
  for (TablePieces& table : tables_) {
    std::stable_sort(table.references.begin(), table.references.end(), [this](const Reference& a, const Reference& b) {
      const TableShard& left = piece(a).shard;
      const TableShard& right = piece(b).shard;
      return std::tie(left.row_begin, left.column_begin) < std::tie(right.row_begin, right.column_begin);
    });
  }
}

bool PieceMap::on_rank(std::size_t t, int r) const {
  const auto& all = tables_[t].references;
  return std::any_of(all.begin(), all.end(), [r](const Reference& at) { return at.rank == r; });
}

}  // namespace tutti::detail
