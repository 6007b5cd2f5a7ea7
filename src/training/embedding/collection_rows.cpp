// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_rows.hpp>

#include "collectives/services.hpp"
#include "training/embedding/collection_state.hpp"
#include "training/embedding/rows_on_host.hpp"

namespace tutti {

namespace {

constexpr std::int64_t block_values = 1 << 18;

/// A number in [-1, 1) with 24 random bits.
float signed_unit(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-23F - 1.0F; }

/// The next rows of table t from `row` on that shards have: at most `most`, which lie one after the other in the memory
/// of each shard that has any of them. Shards may share rows (if columns are divided), overlap or leave gaps. The end
/// is where to go on; none are left if there is no row.
TableRows next_rows(std::span<const TableShard> shards, std::size_t t, std::int64_t row, std::int64_t most) {
  TableRows found{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
  for (const TableShard& shard : shards) {
    const TableRows rows = shard.table_rows();
    const std::int64_t place = rows.below(row);
    if (shard.table != t || place == rows.size()) continue;
    const std::int64_t first = rows.row(place);
    if (first > found.begin) {
      found.end = std::min(found.end, first);
    } else if (first < found.begin) {
      found = {first, std::min(found.begin, rows.end), rows.step};
    } else {
      found.end = std::min(found.end, found.step == rows.step ? rows.end : first + 1);
    }
  }
  if (found.size() > most) found.end = found.row(most);
  return found;
}

/// Rows that are not neighbors are made one by one.
void make_rows(const EmbeddingCollection::MakeRows& make, const TableRows& rows, std::span<float> values,
               std::size_t dim) {
  if (rows.step == 1) return make(rows.begin, rows.end, values);
  for (std::int64_t place = 0; place < rows.size(); ++place)
    make(rows.row(place), rows.row(place) + 1, values.subspan(static_cast<std::size_t>(place) * dim, dim));
}

template <typename Index>
void add_rows(const kernels::TableLookups& lookups, std::size_t bags, const TableRows& shard, std::uint64_t first_row,
              std::vector<std::uint64_t>& rows) {
  const auto* indices = static_cast<const Index*>(lookups.indices);
  for (std::int64_t p = lookups.offsets[0]; p < lookups.offsets[bags]; ++p) {
    const auto index = static_cast<std::int64_t>(indices[p]);
    if (shard.has(index)) rows.push_back(first_row + static_cast<std::uint64_t>(shard.below(index)));
  }
}

}  // namespace

void EmbeddingCollection::prefetch_rows(const EmbeddingInput& input) const {
  const auto& facts = state_->facts;
  const detail::ShardTables& tables = state_->tables;
  if (tables.caches().empty() || !input.error.empty() || input.tables.size() != facts.tables.size()) return;
  const std::size_t bags = input.layout == InputLayout::local ? facts.slice(input.batch).size() : input.batch;
  std::vector<std::vector<std::uint64_t>> rows(tables.caches().size());
  for (std::size_t i = 0; i < facts.pieces().size(); ++i) {
    const TableShard& shard = facts.pieces()[i].shard;
    const kernels::TableLookups& lookups = input.tables[shard.table];
    if (lookups.offsets == nullptr) continue;
    const auto& [cache, first_row] = tables.cached(i);
    input.index_type == kernels::IndexType::int32
        ? add_rows<std::int32_t>(lookups, bags, shard.table_rows(), first_row, rows[cache])
        : add_rows<std::int64_t>(lookups, bags, shard.table_rows(), first_row, rows[cache]);
  }
  for (std::size_t c = 0; c < rows.size(); ++c) tables.caches()[c]->prefetch(rows[c]);
}

void EmbeddingCollection::read_rows(std::size_t i, std::int64_t row_begin, std::int64_t row_end,
                                    std::span<float> out) const {
  const auto& shards = state_->shards;
  if (i >= shards.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::read_rows: shard {} of {}", i, shards.size()));
  }
  const TableShard& shard = shards[i];
  const std::int64_t first = shard.table_rows().below(row_begin);
  const std::int64_t rows = shard.table_rows().below(row_end) - first;
  if (row_begin < shard.row_begin || row_end > shard.row_end || row_begin > row_end ||
      out.size() != static_cast<std::size_t>(rows) * shard.columns()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("EmbeddingCollection::read_rows: rows {} to {} into {} values; the shard has rows {} to {} "
                    "in steps of {}, of {} values",
                    row_begin, row_end, out.size(), shard.row_begin, shard.row_end, shard.row_step, shard.columns()));
  }
  const detail::RowsOnHost block(state_->facts, state_->tables, i, first, rows);
  block.read();
  kernels::read_rows(block.table(), {block.first_row(), rows, 0, shard.columns()}, out.data(), shard.columns());
}

void EmbeddingCollection::fill(std::size_t t, const MakeRows& make) {
  state_->end_saved("was filled before its checkpoint was written");
  const auto& config = state_->facts.tables.at(t);
  const std::int64_t most = std::max<std::int64_t>(1, block_values / static_cast<std::int64_t>(config.dim));
  std::vector<float> values;
  for (TableRows rows = next_rows(state_->shards, t, 0, most); rows.size() > 0;
       rows = next_rows(state_->shards, t, rows.end, most)) {
    values.resize(static_cast<std::size_t>(rows.size()) * config.dim);
    make_rows(make, rows, values, config.dim);
    for (std::size_t i = 0; i < state_->shards.size(); ++i) {
      const TableShard& shard = state_->shards[i];
      if (shard.table != t || !shard.table_rows().has(rows.begin)) continue;
      const detail::RowsOnHost block(state_->facts, state_->tables, i, shard.table_rows().below(rows.begin),
                                     rows.size());
      kernels::write_rows(block.table(), {block.first_row(), rows.size(), 0, shard.columns()},
                          values.data() + shard.column_begin, config.dim);
      block.write();
    }
  }
}

void EmbeddingCollection::initialize() {
  const std::uint64_t seed = detail::mix_bits(state_->facts.options.seed);
  for (std::size_t t = 0; t < tables(); ++t) {
    const auto& config = table(t);
    const float bound = 1.0F / std::sqrt(static_cast<float>(config.rows));
    const std::uint64_t stream = detail::mix_bits(seed + t);
    fill(t, [&](std::int64_t row_begin, std::int64_t, std::span<float> values) {
      const std::uint64_t first = stream + static_cast<std::uint64_t>(row_begin) * config.dim;
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = bound * signed_unit(detail::mix_bits(first + k));
    });
  }
}

}  // namespace tutti
