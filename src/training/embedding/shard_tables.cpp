// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/shard_tables.hpp"

#include <algorithm>
#include <utility>

#include "collectives/services.hpp"
#include "training/embedding/plan_cost.hpp"

namespace tutti::detail {

namespace {

ShardArrays arrays_of(const CollectionFacts& facts, const TableShard& shard) {
  return shard_arrays(facts.tables[shard.table], shard.rows(), shard.columns(), facts.options.optimizer);
}

}  // namespace

ShardTables::ShardTables(const CollectionFacts& facts, MemoryKind kind) : kind_(kind) {
  for (const Piece& piece : facts.pieces()) {
    const TableShard& shard = piece.shard;
    const auto& config = facts.tables[shard.table];
    kernels::EmbeddingTable table;
    table.type = config.type;
    table.rows = shard.rows();
    table.dim = shard.columns();
    table.row_stride = table.dim;
    table.place = {shard.table, shard.row_begin, shard.column_begin, config.dim, shard.row_step};
    tables_.push_back(table);
    state_widths_.push_back(kernels::row_state_values(facts.options.optimizer, table.dim));
  }
  bytes_ = bytes_of_rank(facts, facts.rank);
  facts.caches(bytes_) ? place_in_caches(facts) : place_in_memory(facts);
}

/// One block for all arrays: on the host it is rounded up to whole pages once, not for each array.
void ShardTables::place_in_memory(const CollectionFacts& facts) {
  memory_ = TableBlock(bytes_, kind_);
  if (on_device() && bytes_ > 0)
    device::required_runtime("tables on a device").fill_zero(memory_.data(), bytes_, facts.stream());
  std::byte* next = memory_.data();
  const auto take = [&next](std::size_t taken) { return std::exchange(next, next + taken); };
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const ShardArrays arrays = arrays_of(facts, facts.pieces()[i].shard);
    tables_[i].weights = take(arrays.rows);
    if (arrays.scales > 0) tables_[i].scales = reinterpret_cast<kernels::RowScale*>(take(arrays.scales));
    states_.push_back(arrays.state == 0 ? nullptr : reinterpret_cast<float*>(take(arrays.state)));
  }
}

/// Each cache has memory in proportion to the bytes of its rows.
void ShardTables::place_in_caches(const CollectionFacts& facts) {
  std::vector<RowShape> shapes;
  std::vector<std::uint64_t> rows;
  double all = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const RowShape shape{tables_[i].type, tables_[i].dim, state_widths_[i]};
    const auto at = static_cast<std::size_t>(std::find(shapes.begin(), shapes.end(), shape) - shapes.begin());
    if (at == shapes.size()) {
      shapes.push_back(shape);
      rows.push_back(0);
    }
    cached_.push_back({at, rows[at]});
    tables_[i].place.first_row -= static_cast<std::int64_t>(rows[at]) * tables_[i].place.row_step;
    rows[at] += static_cast<std::uint64_t>(tables_[i].rows);
    all += static_cast<double>(tables_[i].rows) * static_cast<double>(shape.bytes());
  }
  for (std::size_t c = 0; c < shapes.size(); ++c) {
    const double part = static_cast<double>(rows[c]) * static_cast<double>(shapes[c].bytes()) / all;
    const auto bytes = static_cast<std::size_t>(part * static_cast<double>(facts.options.table_memory));
    caches_.push_back(std::make_unique<RowCache>(shapes[c], rows[c], bytes, facts.options.table_folder));
  }
}

kernels::EmbeddingTable ShardTables::table(std::size_t i) const {
  kernels::EmbeddingTable table = tables_[i];
  if (caches_.empty()) return table;
  const kernels::EmbeddingTable& slots = cache(i).table();
  table.weights = slots.weights;
  table.scales = slots.scales;
  table.rows = slots.rows;
  table.place.cached_rows = slots.place.cached_rows;
  return table;
}

float* ShardTables::state(std::size_t i) const { return caches_.empty() ? states_[i] : cache(i).state(); }

std::uint64_t ShardTables::generation() const {
  std::uint64_t sum = 0;
  for (const auto& cache : caches_) sum += cache->generation();
  return sum;
}

void ShardTables::copy(const ShardTables& from, const CollectionFacts& facts) {
  auto& runtime = device::required_runtime("tables on a device");
  if (bytes() > 0) runtime.copy(memory_.data(), from.memory_.data(), bytes(), facts.stream());
}

PieceGroup::PieceGroup(kernels::Pooling pooling, std::vector<std::size_t> pieces, const ShardTables& tables)
    : pooling_(pooling), pieces_(std::move(pieces)), shards_(&tables) {}

void PieceGroup::gather_tables() {
  tables_.clear();
  states_.clear();
  for (const std::size_t i : pieces_) {
    tables_.push_back(shards_->table(i));
    states_.push_back(shards_->state(i));
  }
}

}  // namespace tutti::detail
