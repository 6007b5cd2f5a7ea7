// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/piece_grids.hpp"

#include <algorithm>

#include "collectives/services.hpp"

namespace tutti::detail {

using kernels::RowOptimizer;

std::size_t RowGrid::row_bytes() const {
  return content == "scales" ? value_bytes : parts * block.columns() * value_bytes;
}

DatatypeKind row_type(const std::string& content) {
  for (const auto kind : {DatatypeKind::float32, DatatypeKind::float16, DatatypeKind::bfloat16, DatatypeKind::uint8}) {
    if (content == datatype_name(kind)) return kind;
  }
  return DatatypeKind::bytes;
}

DatatypeKind value_type(const std::string& content) {
  const DatatypeKind type = row_type(content);
  return type == DatatypeKind::bytes ? DatatypeKind::float32 : type;
}

PieceGrids::PieceGrids(const CollectionFacts& facts, const ShardTables& tables, std::size_t i)
    : shard_(facts.pieces()[i].shard), config_(facts.tables[shard_.table]) {
  const RowOptimizer optimizer = facts.options.optimizer;
  const Block all{shard_.table_rows(), shard_.column_begin, shard_.column_end};
  const kernels::EmbeddingTable table = tables.table(i);
  const auto in_memory = [is_cached = !tables.caches().empty()](void* data) {
    return is_cached ? nullptr : static_cast<std::byte*>(data);
  };
  grids_.push_back({datatype_name(config_.type), &RowArrays::values, in_memory(table.weights), all, 1,
                    Datatype(config_.type).size()});
  if (table.scales != nullptr) {
    // One scale a row, valid for these columns only.
    grids_.push_back({"scales", &RowArrays::scales, in_memory(table.scales), all, 1, sizeof(kernels::RowScale)});
  }
  std::byte* const state = in_memory(tables.state(i));
  if (optimizer == RowOptimizer::row_wise_adagrad) {
    const Block of_rows{shard_.table_rows(), 0, 1};
    grids_.push_back({state_name(optimizer), &RowArrays::state, state, of_rows, 1, sizeof(float)});
  } else if (tables.state_width(i) > 0) {
    const std::size_t parts = tables.state_width(i) / shard_.columns();
    grids_.push_back({state_name(optimizer), &RowArrays::state, state, all, parts, sizeof(float)});
  }
}

const RowGrid* PieceGrids::state(RowOptimizer optimizer) const {
  const auto* name = state_name(optimizer);
  const auto at = std::find_if(grids_.begin(), grids_.end(), [&](const RowGrid& g) { return g.content == name; });
  return *name == 0 || at == grids_.end() ? nullptr : &*at;
}

std::shared_ptr<ShardTables> copy_on_host(const ShardTables& tables, const CollectionFacts& facts) {
  auto copy = std::make_shared<ShardTables>(facts, MemoryKind::host);
  copy->copy(tables, facts);
  services::wait_for_stream(facts.device, facts.stream());
  return copy;
}

}  // namespace tutti::detail
