// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/piece_map.hpp"

#include <algorithm>
#include <tuple>

namespace tutti::detail {

PieceMap::PieceMap(std::span<const EmbeddingTableConfig> tables, const ShardingPlan& plan)
    : pieces_(static_cast<std::size_t>(plan.ranks)),
      vector_widths_(pieces_.size(), 0),
      gradient_widths_(pieces_.size(), 0),
      places_(tables.size()) {
  for (const TableShard& shard : plan.shards) {
    const auto r = static_cast<std::size_t>(shard.rank);
    Place& place = places_[shard.table];
    place.replicated = plan.shardings[shard.table] == Sharding::data_parallel;
    place.rows_divided |= shard.rows() < tables[shard.table].rows;
    place.columns_divided |= shard.columns() < tables[shard.table].dim;
    place.references.push_back({shard.rank, pieces_[r].size()});
    pieces_[r].push_back({shard, place.replicated, vector_widths_[r], gradient_widths_[r]});
    vector_widths_[r] += place.replicated ? 0 : shard.columns();
    gradient_widths_[r] += shard.columns();
  }
  for (Place& place : places_) {
    std::stable_sort(place.references.begin(), place.references.end(), [this](const Reference& a, const Reference& b) {
      const TableShard& left = piece(a).shard;
      const TableShard& right = piece(b).shard;
      return std::tie(left.row_begin, left.column_begin) < std::tie(right.row_begin, right.column_begin);
    });
  }
}

bool PieceMap::on_rank(std::size_t t, int r) const {
  const auto& all = places_[t].references;
  return std::any_of(all.begin(), all.end(), [r](const Reference& at) { return at.rank == r; });
}

}  // namespace tutti::detail
