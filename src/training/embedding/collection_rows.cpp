// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

}  // namespace

void EmbeddingCollection::read_rows(std::size_t i, std::int64_t row_begin, std::int64_t row_end,
                                    std::span<float> out) const {
  const auto& shards = state_->shards;
  if (i >= shards.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::read_rows: shard {} of {}", i, shards.size()));
  }
  const TableShard& shard = shards[i];
  const std::int64_t rows = row_end - row_begin;
  if (row_begin < shard.row_begin || row_end > shard.row_end || rows < 0 ||
      out.size() != static_cast<std::size_t>(rows) * shard.columns()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::read_rows: rows {} to {} into {} values; the shard has rows {} to {} "
                            "of {} values",
                            row_begin, row_end, out.size(), shard.row_begin, shard.row_end, shard.columns()));
  }
  const detail::RowsOnHost block(state_->facts, state_->tables.table(i), row_begin - shard.row_begin, rows);
  block.read();
  kernels::read_rows(block.table(), {block.first_row(), rows, 0, shard.columns()}, out.data(), shard.columns());
}

void EmbeddingCollection::fill(std::size_t t, const MakeRows& make) {
  const auto& config = state_->facts.tables.at(t);
  const auto dim = static_cast<std::int64_t>(config.dim);
  const std::int64_t most = std::max<std::int64_t>(1, block_values / dim);
  std::vector<float> values;
  std::int64_t row = 0;
  // Shards may share rows (if columns are divided), overlap or leave gaps; each row that any of them has is made once.
  for (;;) {
    std::int64_t begin = config.rows;
    std::int64_t end = config.rows;
    for (const TableShard& shard : state_->shards) {
      if (shard.table != t || shard.row_end <= row) continue;
      const std::int64_t first = std::max(row, shard.row_begin);
      if (first < begin)
        end = std::min(begin, shard.row_end);
      else if (first == begin)
        end = std::min(end, shard.row_end);
      else
        end = std::min(end, first);
      begin = std::min(begin, first);
    }
    if (begin >= config.rows) return;
    end = std::min(end, begin + most);
    values.resize(static_cast<std::size_t>((end - begin) * dim));
    make(begin, end, values);
    for (std::size_t i = 0; i < state_->shards.size(); ++i) {
      const TableShard& shard = state_->shards[i];
      if (shard.table != t || shard.row_begin > begin || shard.row_end < end) continue;
      const detail::RowsOnHost block(state_->facts, state_->tables.table(i), begin - shard.row_begin, end - begin);
      kernels::write_rows(block.table(), {block.first_row(), end - begin, 0, shard.columns()},
                          values.data() + shard.column_begin, config.dim);
      block.write();
    }
    row = end;
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
