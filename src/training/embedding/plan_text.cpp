// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <tutti/sharding_plan.hpp>

#include "collectives/services.hpp"

namespace tutti {

const char* sharding_name(Sharding sharding) noexcept {
  switch (sharding) {
    case Sharding::automatic:
      return "automatic";
    case Sharding::data_parallel:
      return "data-parallel";
    case Sharding::table_wise:
      return "table-wise";
    case Sharding::row_wise:
      return "row-wise";
    case Sharding::column_wise:
      return "column-wise";
    case Sharding::row_wise_on_node:
      return "row-wise-on-node";
  }
  return "unknown";
}

const char* row_order_name(RowOrder order) noexcept {
  switch (order) {
    case RowOrder::automatic:
      return "automatic";
    case RowOrder::blocks:
      return "blocks";
    case RowOrder::cyclic:
      return "cyclic";
  }
  return "unknown";
}

namespace {

std::string memory_text(std::size_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9) return fmt::format("{:.2f} GB", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f} MB", value / 1e6);
  return fmt::format("{:.1f} KB", value / 1e3);
}

/// "100-199", or for every second row "1-199:2".
std::string rows_text(const TableRows& rows) {
  const std::string text = fmt::format("{}-{}", rows.begin, rows.row(rows.size() - 1));
  return rows.step == 1 ? text : fmt::format("{}:{}", text, rows.step);
}

/// "0", or "0: rows 0-99, 1: rows 100-199".
std::string shards_text(const ShardingPlan& plan, std::size_t t, std::int64_t rows, std::size_t columns) {
  if (plan.shardings[t] == Sharding::data_parallel) return "all";
  std::string text;
  for (const auto& shard : plan.shards) {
    if (shard.table != t) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", shard.rank);
    if (shard.rows() < rows) text += " rows " + rows_text(shard.table_rows());
    if (shard.columns() < columns) text += fmt::format(" columns {}-{}", shard.column_begin, shard.column_end - 1);
  }
  return text;
}

/// What the most loaded rank has, relative to the mean.
template <typename Load>
double imbalance(const std::vector<RankLoad>& loads, const Load& load) {
  double most = 0;
  double all = 0;
  for (const RankLoad& each : loads) {
    most = std::max(most, load(each));
    all += load(each);
  }
  return all > 0 ? most * static_cast<double>(loads.size()) / all : 1;
}

double step_seconds(const RankLoad& load) { return load.lookup_seconds + load.exchange_seconds; }

std::string imbalance_text(const std::vector<RankLoad>& loads) {
  return fmt::format("most loaded rank / mean: lookups {:.2f}, distinct rows {:.2f}, together ms {:.2f}\n",
                     imbalance(loads, [](const RankLoad& load) { return load.lookups; }),
                     imbalance(loads, [](const RankLoad& load) { return load.distinct_rows; }),
                     imbalance(loads, step_seconds));
}

}  // namespace

double ShardingPlan::seconds() const {
  double slowest = 0;
  for (const auto& load : prediction) slowest = std::max(slowest, step_seconds(load));
  return slowest;
}

std::string ShardingPlan::text() const {
  detail::services::TextRows tables{{"table", "rows", "columns", "sharding", "ranks"}};
  for (std::size_t t = 0; t < shardings.size(); ++t) {
    std::int64_t rows = 0;
    std::size_t columns = 0;
    for (const auto& shard : shards) {
      if (shard.table != t) continue;
      rows = std::max(rows, shard.row_end);
      columns = std::max(columns, shard.column_end);
    }
    tables.push_back({t < names.size() ? names[t] : std::to_string(t), std::to_string(rows), std::to_string(columns),
                      sharding_name(shardings[t]), shards_text(*this, t, rows, columns)});
  }
  std::string text = detail::services::in_columns(tables);
  if (prediction.empty()) return text;
  detail::services::TextRows loads{
      {"rank", "memory", "lookups", "distinct rows", "lookup and update ms", "exchange ms", "together ms"}};
  for (std::size_t r = 0; r < prediction.size(); ++r) {
    const auto& load = prediction[r];
    loads.push_back({std::to_string(r), memory_text(load.bytes), fmt::format("{:.0f}", load.lookups),
                     fmt::format("{:.0f}", load.distinct_rows), fmt::format("{:.3f}", 1e3 * load.lookup_seconds),
                     fmt::format("{:.3f}", 1e3 * load.exchange_seconds),
                     fmt::format("{:.3f}", 1e3 * step_seconds(load))});
  }
  return text + "\n" + detail::services::in_columns(loads) + imbalance_text(prediction);
}

}  // namespace tutti
