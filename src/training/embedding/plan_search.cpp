// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tutti/error.hpp>
#include <tutti/sharding_plan.hpp>

#include "training/embedding/plan_layout.hpp"

namespace tutti {

namespace {

using detail::Division;
using detail::PlanCost;
using detail::PlanLayout;
using Tables = std::span<const EmbeddingTableConfig>;
using Divisions = std::vector<Division>;

constexpr double sharpness = 8;

// A division must make a step that waits for one rank at least 0.5 % faster to be worth its messages, and relieve as
// much where the step waits for several: 1 - 0.995 ^ sharpness.
constexpr double worthwhile = 0.0393;

/// How many ranks take about `slowest` seconds: those that take less count little. Relieving one of several equally
/// slow ranks is progress, however many they are.
double slow_ranks(const ShardingPlan& plan, double slowest) {
  double sum = 0;
  for (const auto& load : plan.prediction)
    sum += slowest > 0 ? std::pow((load.lookup_seconds + load.exchange_seconds) / slowest, sharpness) : 0;
  return sum;
}

void check_tables(const PlannerFacts& facts, Tables tables) {
  if (facts.node_of.empty()) throw Error(ErrorCode::invalid_argument, "plan_sharding: facts.node_of is empty");
  std::set<std::string> names;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const auto& table = tables[t];
    if (table.rows < 1 || table.dim < 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("plan_sharding: table {} '{}' has {} rows of {} values; both must be at least 1", t,
                              table.name, table.rows, table.dim));
    }
    if (!names.insert(table.name).second) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("plan_sharding: two tables have the name '{}'; names must differ", table.name));
    }
    detail::check_access(table, t);
    const bool divides_bags = table.sharding == Sharding::row_wise || table.sharding == Sharding::row_wise_on_node;
    if (table.pooling == kernels::Pooling::max && divides_bags && facts.node_of.size() > 1) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("plan_sharding: table {} '{}' is pooled by max, which needs whole bags; shard it "
                              "table-wise, column-wise or data-parallel, not {}",
                              t, table.name, sharding_name(table.sharding)));
    }
  }
}

Division first_division(const EmbeddingTableConfig& table, std::size_t ranks) {
  switch (table.sharding) {
    case Sharding::automatic:
      return {};
    case Sharding::column_wise:
      return {Sharding::column_wise, std::min(ranks, table.dim)};
    default:
      return {table.sharding, 1};
  }
}

/// Other ways to divide a table that the planner may choose, the least divided first.
Divisions alternatives(const EmbeddingTableConfig& table, const PlannerFacts& facts) {
  const std::size_t ranks = facts.node_of.size();
  Divisions found{{Sharding::table_wise, 1}, {Sharding::data_parallel, 1}};
  for (std::size_t k = 2; k < 2 * ranks; k *= 2) {
    const std::size_t parts = std::min(k, ranks);
    if (parts <= table.dim) found.push_back({Sharding::column_wise, parts});
  }
  if (table.pooling == kernels::Pooling::max) return found;
  if (*std::max_element(facts.node_of.begin(), facts.node_of.end()) > 0)
    found.push_back({Sharding::row_wise_on_node, 1});
  found.push_back({Sharding::row_wise, 1});
  return found;
}

/// Divides a table further, to make room; false if it cannot be divided further.
bool divide_further(const EmbeddingTableConfig& table, Division& division, std::size_t ranks) {
  if (table.sharding != Sharding::automatic || division.sharding == Sharding::row_wise || ranks == 1) return false;
  const std::size_t columns = std::min(ranks, table.dim);
  if (division.columns < columns) {
    division = {Sharding::column_wise, std::min(2 * division.columns, columns)};
    return true;
  }
  if (table.pooling == kernels::Pooling::max) return false;
  division = {Sharding::row_wise, 1};
  return true;
}

[[noreturn]] void throw_too_large(Tables tables, const PlannerOptions& options, const PlanLayout& layout) {
  const auto& table = tables[*layout.too_large];
  std::size_t all = 0;
  for (const auto& each : tables) all += detail::shard_arrays(each, each.rows, each.dim, options.optimizer).bytes();
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("plan_sharding: memory_limit is {} bytes a rank, but a shard of table {} '{}' ({}) takes {} "
                  "bytes and no rank has room for it; all tables together take {} bytes. Raise the limit, use "
                  "more ranks, a smaller type or an optimizer with less state{}",
                  options.memory_limit, *layout.too_large, table.name, sharding_name(table.sharding), layout.bytes, all,
                  table.sharding == Sharding::automatic ? "" : ", or leave its sharding to the planner"));
}

/// Divides a table further to make room: the one that did not fit, or else the largest that can be divided.
bool make_room(Tables tables, const PlannerOptions& options, std::size_t failed, std::size_t ranks,
               Divisions& divisions) {
  if (divide_further(tables[failed], divisions[failed], ranks)) return true;
  std::vector<std::size_t> order(tables.size());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
  const auto bytes = [&](std::size_t t) {
    return detail::shard_arrays(tables[t], tables[t].rows, tables[t].dim, options.optimizer).bytes();
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return bytes(a) > bytes(b); });
  return std::any_of(order.begin(), order.end(),
                     [&](std::size_t t) { return divide_further(tables[t], divisions[t], ranks); });
}

PlanLayout first_layout(const PlanCost& cost, Divisions& divisions) {
  for (;;) {
    PlanLayout layout = detail::lay_out(cost, divisions);
    if (!layout.too_large) return layout;
    if (!make_room(cost.tables(), cost.options(), *layout.too_large, cost.facts().node_of.size(), divisions))
      throw_too_large(cost.tables(), cost.options(), layout);
  }
}

/// A few tables of the slowest rank that the planner may divide in another way, the costliest first.
std::vector<std::size_t> candidates(const PlanCost& cost, const ShardingPlan& plan) {
  constexpr std::size_t few = 6;
  const auto slower = [](const RankLoad& a, const RankLoad& b) {
    return a.lookup_seconds + a.exchange_seconds < b.lookup_seconds + b.exchange_seconds;
  };
  const auto slowest = static_cast<int>(std::max_element(plan.prediction.begin(), plan.prediction.end(), slower) -
                                        plan.prediction.begin());
  std::vector<std::pair<double, std::size_t>> found;
  for (const auto& shard : plan.shards) {
    if (shard.rank == slowest && cost.tables()[shard.table].sharding == Sharding::automatic)
      found.emplace_back(-cost.shard_seconds(shard, plan.shardings[shard.table]), shard.table);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::size_t> result;
  for (const auto& [seconds, t] : found) {
    if (result.size() < few && std::find(result.begin(), result.end(), t) == result.end()) result.push_back(t);
  }
  return result;
}

/// Makes the best single change to the divisions; false if none is better.
bool improve(const PlanCost& cost, Divisions& divisions, PlanLayout& best) {
  const double slowest = best.plan.seconds();
  double limit = slow_ranks(best.plan, slowest) - worthwhile;
  std::optional<std::pair<std::size_t, Division>> change;
  PlanLayout found = best;
  for (const std::size_t t : candidates(cost, best.plan)) {
    const Division before = divisions[t];
    for (const Division& other : alternatives(cost.tables()[t], cost.facts())) {
      divisions[t] = other;
      PlanLayout layout = detail::lay_out(cost, divisions);
      if (layout.too_large) continue;
      const double score = slow_ranks(layout.plan, slowest);
      if (score >= limit) continue;
      limit = score;
      found = std::move(layout);
      change = {t, other};
    }
    divisions[t] = before;
  }
  if (!change) return false;
  divisions[change->first] = change->second;
  best = std::move(found);
  return true;
}

}  // namespace

ShardingPlan plan_sharding(const PlannerFacts& facts, std::span<const EmbeddingTableConfig> tables,
                           const PlannerOptions& options) {
  check_tables(facts, tables);
  detail::check_exchange_type(options.exchange_type, "plan_sharding");
  const std::size_t ranks = facts.node_of.size();
  Divisions divisions;
  for (const auto& table : tables) divisions.push_back(first_division(table, ranks));
  const PlanCost cost(facts, tables, options);
  PlanLayout current = first_layout(cost, divisions);
  ShardingPlan best = current.plan;
  const std::size_t most = 2 * tables.size();
  for (std::size_t i = 0; i < most && ranks > 1; ++i) {
    if (!improve(cost, divisions, current)) break;
    if (current.plan.seconds() <= best.seconds()) best = current.plan;
  }
  return best;
}

}  // namespace tutti
