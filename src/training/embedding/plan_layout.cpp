// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/plan_layout.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tutti::detail {

namespace {

using Shards = std::vector<TableShard>;

/// The rows of part i of several.
TableRows rows_of_part(std::int64_t rows, std::int64_t i, std::int64_t parts, RowOrder order) {
  if (order == RowOrder::cyclic) return {i, rows, parts};
  const auto cut = [&](std::int64_t k) { return rows / parts * k + std::min(k, rows % parts); };
  return {cut(i), cut(i + 1)};
}

/// Some rows for each rank, without the ranks that get none.
Shards deal_rows(std::size_t t, const EmbeddingTableConfig& table, const std::vector<int>& ranks, RowOrder order) {
  Shards shards;
  const auto parts = static_cast<std::int64_t>(ranks.size());
  for (std::int64_t i = 0; i < parts; ++i) {
    const TableRows rows = rows_of_part(table.rows, i, parts, order);
    if (rows.size() > 0)
      shards.push_back({t, ranks[static_cast<std::size_t>(i)], rows.begin, rows.end, 0, table.dim, rows.step});
  }
  return shards;
}

/// Blocks of columns, in whole vector registers if there are enough columns.
Shards column_blocks(std::size_t t, const EmbeddingTableConfig& table, std::size_t parts) {
  const std::size_t unit = table.dim >= 16 * parts ? 16 : 1;
  const std::size_t units = table.dim / unit;
  Shards shards;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = units * i / parts * unit;
    const std::size_t end = i + 1 == parts ? table.dim : units * (i + 1) / parts * unit;
    if (begin < end) shards.push_back({t, 0, 0, table.rows, begin, end});
  }
  return shards;
}

class Placer {
 public:
  Placer(const PlanCost& cost, std::span<const Division> divisions)
      : facts_(cost.facts()), tables_(cost.tables()), options_(cost.options()), divisions_(divisions), cost_(cost) {
    const std::size_t ranks = facts_.node_of.size();
    seconds_.resize(ranks, 0);
    bytes_.resize(ranks, 0);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for (const auto& shard : column_blocks(t, tables_[t], 1)) {
        all_seconds_ += cost_.shard_seconds(shard, divisions[t].sharding);
        all_bytes_ += static_cast<double>(cost_.bytes(shard));
      }
    }
  }

  PlanLayout run() {
    for (std::size_t t = 0; t < tables_.size() && !result_.too_large; ++t) place_everywhere(t);
    for (const std::size_t t : by_falling_cost()) {
      if (result_.too_large) break;
      if (divisions_[t].sharding == Sharding::row_wise_on_node) {
        place_on_node(t);
      } else {
        place_blocks(t);
      }
    }
    if (!result_.too_large) finish();
    return std::move(result_);
  }

 private:
  /// The seconds of the slowest of these shards.
  [[nodiscard]] double slowest(const Shards& shards) const {
    double seconds = 0;
    for (const TableShard& shard : shards)
      seconds = std::max(seconds, cost_.shard_seconds(shard, divisions_[shard.table].sharding));
    return seconds;
  }
  /// Blocks are kept unless cyclic order is 5 % faster: sampled frequencies of even lookups differ as much by chance.
  [[nodiscard]] Shards row_shards(std::size_t t, const std::vector<int>& ranks) const {
    const EmbeddingTableConfig& table = tables_[t];
    if (table.row_order != RowOrder::automatic) return deal_rows(t, table, ranks, table.row_order);
    Shards blocks = deal_rows(t, table, ranks, RowOrder::blocks);
    if (table.lookup_shares.empty() && table.frequencies.empty()) return blocks;
    Shards cyclic = deal_rows(t, table, ranks, RowOrder::cyclic);
    return slowest(cyclic) < 0.95 * slowest(blocks) ? cyclic : blocks;
  }
  [[nodiscard]] double load(std::size_t r) const {
    return (all_seconds_ > 0 ? seconds_[r] / all_seconds_ : 0) +
           (all_bytes_ > 0 ? static_cast<double>(bytes_[r]) / all_bytes_ : 0);
  }
  [[nodiscard]] bool has_room(std::size_t r, std::size_t bytes) const {
    return options_.memory_limit == 0 || bytes_[r] + bytes <= options_.memory_limit;
  }

  void put(TableShard shard, std::size_t r) {
    shard.rank = static_cast<int>(r);
    seconds_[r] += cost_.shard_seconds(shard, divisions_[shard.table].sharding);
    bytes_[r] += cost_.bytes(shard);
    result_.plan.shards.push_back(shard);
  }
  void put_or_fail(const TableShard& shard, std::size_t r) {
    if (has_room(r, cost_.bytes(shard))) {
      put(shard, r);
    } else {
      fail(shard);
    }
  }
  void fail(const TableShard& shard) {
    result_.too_large = shard.table;
    result_.bytes = cost_.bytes(shard);
  }

  void place_everywhere(std::size_t t) {
    std::vector<int> all(facts_.node_of.size());
    std::iota(all.begin(), all.end(), 0);
    Shards shards;
    if (divisions_[t].sharding == Sharding::row_wise) shards = row_shards(t, all);
    if (divisions_[t].sharding == Sharding::data_parallel) {
      for (const int r : all) shards.push_back({t, r, 0, tables_[t].rows, 0, tables_[t].dim});
    }
    for (const auto& shard : shards) {
      if (!result_.too_large) put_or_fail(shard, static_cast<std::size_t>(shard.rank));
    }
  }

  [[nodiscard]] std::vector<std::size_t> by_falling_cost() const {
    std::vector<std::size_t> order;
    std::vector<double> cost(tables_.size(), 0);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const Sharding sharding = divisions_[t].sharding;
      if (sharding == Sharding::row_wise || sharding == Sharding::data_parallel) continue;
      order.push_back(t);
      const auto block = column_blocks(t, tables_[t], divisions_[t].columns).front();
      cost[t] = (all_seconds_ > 0 ? cost_.shard_seconds(block, sharding) / all_seconds_ : 0) +
                (all_bytes_ > 0 ? static_cast<double>(cost_.bytes(block)) / all_bytes_ : 0);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost[a] > cost[b]; });
    return order;
  }

  /// Places each block on a rank without one, as long as there is such a rank.
  void place_blocks(std::size_t t) {
    std::vector<int> uses(seconds_.size(), 0);
    for (const auto& block : column_blocks(t, tables_[t], divisions_[t].columns)) {
      std::optional<std::size_t> best;
      for (std::size_t r = 0; r < seconds_.size(); ++r) {
        if (!has_room(r, cost_.bytes(block))) continue;
        if (!best || std::tuple(uses[r], load(r)) < std::tuple(uses[*best], load(*best))) best = r;
      }
      if (!best) return fail(block);
      put(block, *best);
      ++uses[*best];
    }
  }

  void place_on_node(std::size_t t) {
    const int nodes = 1 + *std::max_element(facts_.node_of.begin(), facts_.node_of.end());
    std::optional<Shards> best;
    double least = 0;
    TableShard largest{t, 0, 0, tables_[t].rows, 0, tables_[t].dim};
    for (int node = 0; node < nodes; ++node) {
      std::vector<int> ranks;
      double sum = 0;
      for (std::size_t r = 0; r < facts_.node_of.size(); ++r) {
        if (facts_.node_of[r] != node) continue;
        ranks.push_back(static_cast<int>(r));
        sum += load(r);
      }
      if (ranks.empty()) continue;
      auto shards = row_shards(t, ranks);
      largest = shards.front();
      const bool fits = std::all_of(shards.begin(), shards.end(), [&](const TableShard& s) {
        return has_room(static_cast<std::size_t>(s.rank), cost_.bytes(s));
      });
      const double mean = sum / static_cast<double>(ranks.size());
      if (fits && (!best || mean < least)) {
        best = std::move(shards);
        least = mean;
      }
    }
    if (!best) return fail(largest);
    for (const auto& shard : *best) put(shard, static_cast<std::size_t>(shard.rank));
  }

  void finish() {
    auto& plan = result_.plan;
    std::sort(plan.shards.begin(), plan.shards.end(), [](const TableShard& a, const TableShard& b) {
      return std::tuple(a.table, a.rank, a.row_begin, a.column_begin) <
             std::tuple(b.table, b.rank, b.row_begin, b.column_begin);
    });
    plan.ranks = static_cast<int>(facts_.node_of.size());
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      plan.names.push_back(tables_[t].name);
      plan.shardings.push_back(divisions_[t].sharding);
    }
    plan.prediction = cost_.loads(plan);
  }

  const PlannerFacts& facts_;
  std::span<const EmbeddingTableConfig> tables_;
  const PlannerOptions& options_;
  std::span<const Division> divisions_;
  const PlanCost& cost_;
  std::vector<double> seconds_;
  std::vector<std::size_t> bytes_;
  double all_seconds_ = 0;
  double all_bytes_ = 0;
  PlanLayout result_;
};

}  // namespace

PlanLayout lay_out(const PlanCost& cost, std::span<const Division> divisions) { return Placer(cost, divisions).run(); }

}  // namespace tutti::detail
