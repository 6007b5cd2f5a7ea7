// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/shard_tables.hpp"

#include <utility>

#include "collectives/services.hpp"
#include "training/embedding/plan_cost.hpp"

namespace tutti::detail {

namespace {

ShardArrays arrays_of(const CollectionFacts& facts, const TableShard& shard) {
  return shard_arrays(facts.tables[shard.table], shard.rows(), shard.columns(), facts.options.optimizer);
}

}  // namespace

/// One block for all arrays: on the host it is rounded up to whole pages once, not for each array.
ShardTables::ShardTables(const CollectionFacts& facts, MemoryKind kind) {
  std::size_t bytes = 0;
  for (const Piece& piece : facts.pieces()) bytes += arrays_of(facts, piece.shard).bytes();
  memory_ = TableBlock(bytes, kind);
  if (kind == MemoryKind::device && bytes > 0)
    device::required_runtime("tables on a device").fill_zero(memory_.data(), bytes, facts.stream());
  std::byte* next = memory_.data();
  const auto take = [&next](std::size_t taken) { return std::exchange(next, next + taken); };
  for (const Piece& piece : facts.pieces()) {
    const TableShard& shard = piece.shard;
    const auto& config = facts.tables[shard.table];
    const ShardArrays arrays = arrays_of(facts, shard);
    kernels::EmbeddingTable table;
    table.type = config.type;
    table.rows = shard.rows();
    table.dim = shard.columns();
    table.row_stride = table.dim;
    table.place = {shard.table, shard.row_begin, shard.column_begin, config.dim, shard.row_step};
    table.weights = take(arrays.rows);
    if (arrays.scales > 0) table.scales = reinterpret_cast<kernels::RowScale*>(take(arrays.scales));
    tables_.push_back(table);
    state_widths_.push_back(kernels::row_state_values(facts.options.optimizer, table.dim));
    states_.push_back(arrays.state == 0 ? nullptr : reinterpret_cast<float*>(take(arrays.state)));
  }
}

void ShardTables::copy(const ShardTables& from, const CollectionFacts& facts) {
  auto& runtime = device::required_runtime("tables on a device");
  if (bytes() > 0) runtime.copy(memory_.data(), from.memory_.data(), bytes(), facts.stream());
}

PieceGroup::PieceGroup(kernels::Pooling pooling, std::vector<std::size_t> pieces, const ShardTables& tables)
    : pooling_(pooling), pieces_(std::move(pieces)) {
  for (const std::size_t i : pieces_) {
    tables_.push_back(tables.table(i));
    states_.push_back(tables.state(i));
  }
}

}  // namespace tutti::detail
