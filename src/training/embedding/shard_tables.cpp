// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/shard_tables.hpp"

#include "collectives/services.hpp"

namespace tutti::detail {

ShardTables::ShardTables(const CollectionFacts& facts, MemoryKind kind) {
  const auto allocate = [&](std::size_t bytes) {
    const TableBlock& block = memory_.emplace_back(bytes, kind);
    if (kind == MemoryKind::device && bytes > 0)
      device::required_runtime("tables on a device").fill_zero(block.data(), bytes, facts.stream());
    return block.data();
  };
  for (const Piece& piece : facts.pieces()) {
    const TableShard& shard = piece.shard;
    const auto& config = facts.tables[shard.table];
    const auto rows = static_cast<std::size_t>(shard.rows());
    kernels::EmbeddingTable table;
    table.type = config.type;
    table.rows = shard.rows();
    table.dim = shard.columns();
    table.row_stride = table.dim;
    table.place = {shard.table, shard.row_begin, shard.column_begin, config.dim};
    table.weights = allocate(rows * table.dim * Datatype(config.type).size());
    if (config.type == DatatypeKind::uint8)
      table.scales = reinterpret_cast<kernels::RowScale*>(allocate(rows * sizeof(kernels::RowScale)));
    tables_.push_back(table);
    state_widths_.push_back(kernels::row_state_values(facts.options.optimizer, table.dim));
    states_.push_back(state_widths_.back() == 0
                          ? nullptr
                          : reinterpret_cast<float*>(allocate(rows * state_widths_.back() * sizeof(float))));
  }
}

std::size_t ShardTables::bytes() const {
  std::size_t sum = 0;
  for (const auto& block : memory_) sum += block.taken();
  return sum;
}

void ShardTables::copy(const ShardTables& from, const CollectionFacts& facts) {
  auto& runtime = device::required_runtime("tables on a device");
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (memory_[i].bytes() > 0)
      runtime.copy(memory_[i].data(), from.memory_[i].data(), memory_[i].bytes(), facts.stream());
  }
}

PieceGroup::PieceGroup(kernels::Pooling pooling, std::vector<std::size_t> pieces, const ShardTables& tables)
    : pooling_(pooling), pieces_(std::move(pieces)) {
  for (const std::size_t i : pieces_) {
    tables_.push_back(tables.table(i));
    states_.push_back(tables.state(i));
  }
}

}  // namespace tutti::detail
