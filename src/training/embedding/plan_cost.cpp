// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/plan_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

namespace tutti::detail {

ShardArrays shard_arrays(const EmbeddingTableConfig& table, std::int64_t rows, std::size_t columns,
                         kernels::RowOptimizer optimizer) {
  const auto padded = [&](std::size_t row_bytes) {
    const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes;
    return (bytes + ShardArrays::alignment - 1) / ShardArrays::alignment * ShardArrays::alignment;
  };
  return {padded(columns * Datatype(table.type).size()),
          padded(table.type == DatatypeKind::uint8 ? sizeof(kernels::RowScale) : 0),
          padded(kernels::row_state_values(optimizer, columns) * sizeof(float))};
}

void check_exchange_type(DatatypeKind type, const char* call) {
  if (type == DatatypeKind::float32 || type == DatatypeKind::bfloat16 || type == DatatypeKind::float16) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{}: option exchange_type is {}; pass float32, bfloat16 or float16", call, datatype_name(type)));
}

std::size_t PlanCost::bytes(const TableShard& shard) const {
  return shard_arrays(tables_[shard.table], shard.rows(), shard.columns(), options_->optimizer).bytes();
}

PlanCost::PlanCost(const PlannerFacts& facts, std::span<const EmbeddingTableConfig> tables,
                   const PlannerOptions& options)
    : facts_(&facts), tables_(tables), options_(&options) {
  for (const EmbeddingTableConfig& table : tables)
    access_.emplace_back(table, static_cast<double>(options.batch) * table.mean_lookups);
}

double PlanCost::lookup_seconds(const TableShard& shard, Sharding sharding) const {
  const auto& table = tables_[shard.table];
  const auto columns = static_cast<double>(shard.columns());
  const double row = columns * static_cast<double>(Datatype(table.type).size());
  const double state = static_cast<double>(kernels::row_state_values(options_->optimizer, shard.columns())) * 4;
  const RowLoad all = load(shard);
  // A replica reads for its own samples, and is updated from all.
  const double read = sharding == Sharding::data_parallel ? all.lookups / ranks() : all.lookups;
  const double forward = read * (row / facts_->row_bytes_rate + facts_->seconds_per_lookup);
  // A row is updated once, with the sum of its gradients.
  const double moved = all.distinct * (2 * row + 2 * state);
  return forward + moved / facts_->row_bytes_rate + all.lookups * facts_->seconds_per_lookup;
}

double PlanCost::assembly_seconds(const TableShard& shard, Sharding sharding) const {
  const auto& table = tables_[shard.table];
  const bool whole = shard.rows() == table.rows && shard.columns() == table.dim;
  if (whole && sharding != Sharding::data_parallel) return 0;
  const double values = static_cast<double>(options_->batch) / ranks() * static_cast<double>(shard.columns());
  return 2 * values * 2 * sizeof(float) / facts_->row_bytes_rate;
}

double PlanCost::shard_seconds(const TableShard& shard, Sharding sharding) const {
  const double others = ranks() > 1 ? (ranks() - 1) / ranks() : 0;
  const double vectors = static_cast<double>(options_->batch * shard.columns() * value_bytes()) * others;
  return lookup_seconds(shard, sharding) + 2 * vectors / facts_->exchange_rate;
}

double PlanCost::exchange_seconds(double own_width, double own_gradient_width, double width,
                                  double gradient_width) const {
  if (ranks() < 2 || gradient_width <= 0) return 0;
  const double bytes = static_cast<double>(options_->batch * value_bytes());
  const double to_others = bytes * (ranks() - 1) / ranks();
  const double of_others = bytes / ranks();
  const double vectors = std::max(to_others * own_width, of_others * (width - own_width));
  const double gradients = std::max(to_others * own_gradient_width, of_others * (gradient_width - own_gradient_width));
  return 2 * facts_->exchange_latency * (ranks() - 1) + (vectors + gradients) / facts_->exchange_rate;
}

std::vector<RankLoad> PlanCost::loads(const ShardingPlan& plan) const {
  std::vector<RankLoad> loads(facts_->node_of.size());
  std::vector<double> width(loads.size(), 0);
  std::vector<double> gradient_width(loads.size(), 0);
  double all = 0;
  double all_gradients = 0;
  std::vector<double> assembly(plan.shardings.size(), 0);
  for (const TableShard& shard : plan.shards) {
    const Sharding sharding = plan.shardings[shard.table];
    const auto r = static_cast<std::size_t>(shard.rank);
    const auto columns = static_cast<double>(shard.columns());
    const bool replica = sharding == Sharding::data_parallel;
    loads[r].bytes += bytes(shard);
    const RowLoad of_shard = load(shard);
    loads[r].lookups += replica ? of_shard.lookups / ranks() : of_shard.lookups;
    loads[r].distinct_rows += of_shard.distinct;
    loads[r].lookup_seconds += lookup_seconds(shard, sharding);
    if (!replica || shard.rank == 0) assembly[shard.table] += assembly_seconds(shard, sharding);
    width[r] += replica ? 0 : columns;
    gradient_width[r] += columns;
    all += replica ? 0 : columns;
    all_gradients += columns;
  }
  double together = 0;
  for (const double seconds : assembly) together += seconds;
  for (std::size_t r = 0; r < loads.size(); ++r) {
    loads[r].lookup_seconds += together;
    loads[r].exchange_seconds = exchange_seconds(width[r], gradient_width[r], all, all_gradients);
  }
  return loads;
}

}  // namespace tutti::detail
