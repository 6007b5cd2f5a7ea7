// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <tutti/sharding_plan.hpp>
#include <vector>

#include "training/embedding/plan_cost.hpp"

namespace tutti::detail {

/// How to divide one table: the kind, and the number of blocks of columns.
struct Division {
  Sharding sharding = Sharding::table_wise;
  std::size_t columns = 1;
};

/// Either a plan, or the table that no rank had room for and the bytes of the shard that did not fit.
struct PlanLayout {
  ShardingPlan plan;
  std::optional<std::size_t> too_large;
  std::size_t bytes = 0;
};

/// Places the shards of all tables: first the tables that go to all ranks, then the others in order of falling cost,
/// each on the least loaded rank with room (row-wise on a node: on the least loaded node). The load of a rank is its
/// share of all seconds plus its share of all bytes. Rows are in cyclic order if the table asks for it, or leaves it to
/// the planner and blocks would give one rank clearly more to do.
[[nodiscard]] PlanLayout lay_out(const PlanCost& cost, std::span<const Division> divisions);

}  // namespace tutti::detail
