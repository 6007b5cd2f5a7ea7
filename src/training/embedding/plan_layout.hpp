// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <tutti/sharding_plan.hpp>
#include <vector>

#include "training/embedding/plan_cost.hpp"

namespace tutti::detail {

/// How one table shall be divided: the kind, and into how many blocks of columns.
struct Division {
  Sharding sharding = Sharding::table_wise;
  std::size_t columns = 1;
};

/// Either a plan, or the table for which no rank had room and the bytes of its smallest shard.
struct Layout {
  ShardingPlan plan;
  std::optional<std::size_t> too_large;
  std::size_t bytes = 0;
};

/// Shards of all tables on ranks. Those that go to all ranks first; then the others in order of falling cost, each to
/// the rank (row-wise on a node: the node) with the least so far among those that have room. The load of a rank is its
/// share of all seconds plus its share of all bytes.
[[nodiscard]] Layout lay_out(const PlannerFacts& facts, std::span<const EmbeddingTableConfig> tables,
                             const PlannerOptions& options, std::span<const Division> divisions);

}  // namespace tutti::detail
