// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>
#include <tutti/sharding_plan.hpp>

namespace tutti {

namespace {

[[noreturn]] void fail(std::size_t t, const EmbeddingTableConfig& table, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("sharding plan: table {} '{}' {}", t, table.name, what));
}

bool overlap(const TableShard& a, const TableShard& b) {
  return a.column_begin < b.column_end && b.column_begin < a.column_end && common_rows(a.table_rows(), b.table_rows());
}

void check_shard(std::size_t t, const EmbeddingTableConfig& table, const TableShard& shard, int ranks) {
  if (shard.rank < 0 || shard.rank >= ranks)
    fail(t, table, fmt::format("has a shard on rank {} of {}", shard.rank, ranks));
  if (shard.row_begin < 0 || shard.row_begin >= shard.row_end || shard.row_end > table.rows ||
      shard.column_begin >= shard.column_end || shard.column_end > table.dim) {
    fail(t, table,
         fmt::format("has a shard of rows {} to {} and columns {} to {}, which is empty or not within {} x {}",
                     shard.row_begin, shard.row_end, shard.column_begin, shard.column_end, table.rows, table.dim));
  }
  if (shard.row_step < 1) fail(t, table, fmt::format("has a shard with a row_step of {}, below 1", shard.row_step));
}

void check_replicas(std::size_t t, const EmbeddingTableConfig& table, const std::vector<TableShard>& shards,
                    int ranks) {
  bool whole = shards.size() == static_cast<std::size_t>(ranks);
  for (std::size_t i = 0; i < shards.size() && whole; ++i) {
    whole = shards[i].rank == static_cast<int>(i) && shards[i].rows() == table.rows && shards[i].columns() == table.dim;
  }
  if (!whole) fail(t, table, "is data-parallel, so every rank must hold it whole, once");
}

void check_cover(std::size_t t, const EmbeddingTableConfig& table, const std::vector<TableShard>& shards) {
  double covered = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    covered += static_cast<double>(shards[i].rows()) * static_cast<double>(shards[i].columns());
    for (std::size_t k = 0; k < i; ++k) {
      if (overlap(shards[i], shards[k]))
        fail(t, table, fmt::format("has overlapping shards on ranks {} and {}", shards[k].rank, shards[i].rank));
    }
    if (table.pooling == kernels::Pooling::max && shards[i].rows() < table.rows)
      fail(t, table, "is pooled by max, which needs whole bags, but the plan divides its rows");
  }
  if (covered != static_cast<double>(table.rows) * static_cast<double>(table.dim))
    fail(t, table, "is not covered by its shards");
}

}  // namespace

void ShardingPlan::validate(std::span<const EmbeddingTableConfig> tables) const {
  if (shardings.size() != tables.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sharding plan: it covers {} tables, but there are {}", shardings.size(), tables.size()));
  }
  std::vector<std::vector<TableShard>> of_table(tables.size());
  for (const auto& shard : shards) {
    if (shard.table >= tables.size())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("sharding plan: a shard belongs to table {}, but there are {} tables", shard.table,
                              tables.size()));
    check_shard(shard.table, tables[shard.table], shard, ranks);
    of_table[shard.table].push_back(shard);
  }
  for (std::size_t t = 0; t < tables.size(); ++t) {
    if (shardings[t] == Sharding::automatic) fail(t, tables[t], "has no sharding; make the plan with plan_sharding()");
    if (shardings[t] == Sharding::data_parallel) {
      check_replicas(t, tables[t], of_table[t], ranks);
    } else {
      check_cover(t, tables[t], of_table[t]);
    }
  }
}

}  // namespace tutti
