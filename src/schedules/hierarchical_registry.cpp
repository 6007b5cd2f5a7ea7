// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/registry_table.hpp"

namespace tutti::schedules {
namespace {

using LevelCostFunction = LevelCost (*)(const Spread&, double);

template <LevelCostFunction cost>
Cost on_one_node(int size, double bytes) {
  const LevelCost all = cost({size, 1, size, size, true}, bytes);
  Cost sum = all.local;
  for (const PhaseCost& phase : all.on_node) sum = sum + phase.cost;
  sum.copied_bytes += all.across.cost.copied_bytes;
  return sum;
}

template <LevelCostFunction cost>
constexpr Algorithm make(Operation operation, std::string_view name, Schedule (*generate)(const Problem&),
                         LayoutNeed need = LayoutNeed::none, Keeps keeps = Keeps::nothing) {
  Algorithm a = keeping(keeps, {operation, name, generate, on_one_node<cost>});
  a.hierarchical = true;
  a.need = need;
  a.level_cost = cost;
  return a;
}

/// One whose ranks tell their counts first.
template <LevelCostFunction cost>
constexpr Algorithm telling(Operation operation, Schedule (*generate)(const Problem&)) {
  Algorithm a = make<cost>(operation, "hierarchical", generate);
  a.tells_counts = true;
  return a;
}

using enum Operation;
constexpr auto any = LayoutNeed::none;
constexpr auto even = LayoutNeed::even;
constexpr auto adjacent = LayoutNeed::adjacent;

// One after the other by operation, as flat ones are.
constexpr auto table = std::to_array<Algorithm>({
    make<barrier_hierarchical_cost>(barrier, "hierarchical", barrier_hierarchical),
    make<bcast_hierarchical_cost>(bcast, "hierarchical", bcast_hierarchical),
    make<bcast_hierarchical_split_cost>(bcast, "hierarchical_split", bcast_hierarchical_split),
    make<bcast_hierarchical_pipeline_cost>(bcast, "hierarchical_pipeline", bcast_hierarchical_pipeline),
    make<reduce_hierarchical_cost>(reduce, "hierarchical", reduce_hierarchical, any, order),
    make<reduce_hierarchical_split_cost>(reduce, "hierarchical_split", reduce_hierarchical_split, any, order),
    make<reduce_hierarchical_pipeline_cost>(reduce, "hierarchical_pipeline", reduce_hierarchical_pipeline),
    make<reduce_hierarchical_gather_cost>(reduce, "hierarchical_gather", reduce_hierarchical_gather, any, once),
    make<allreduce_hierarchical_cost>(allreduce, "hierarchical", allreduce_hierarchical, any, order),
    make<allreduce_hierarchical_split_cost>(allreduce, "hierarchical_split", allreduce_hierarchical_split, any, order),
    make<allreduce_hierarchical_pipeline_cost>(allreduce, "hierarchical_pipeline", allreduce_hierarchical_pipeline, any,
                                               order),
    make<allreduce_hierarchical_gather_cost>(allreduce, "hierarchical_gather", allreduce_hierarchical_gather, any,
                                             once),
    make<reduce_scatter_hierarchical_cost>(reduce_scatter_block, "hierarchical", reduce_scatter_block_hierarchical, any,
                                           order),
    make<reduce_scatter_hierarchical_split_cost>(reduce_scatter_block, "hierarchical_split",
                                                 reduce_scatter_block_hierarchical_split, even, order),
    make<reduce_scatter_hierarchical_cost>(reduce_scatter, "hierarchical", reduce_scatter_hierarchical, any, order),
    make<reduce_scatter_hierarchical_split_cost>(reduce_scatter, "hierarchical_split",
                                                 reduce_scatter_hierarchical_split, even, order),
    make<scan_hierarchical_cost>(scan, "hierarchical", scan_hierarchical, adjacent, order),
    make<exscan_hierarchical_cost>(exscan, "hierarchical", exscan_hierarchical, adjacent, order),
    make<gather_hierarchical_cost>(gather, "hierarchical", gather_hierarchical),
    telling<gatherv_hierarchical_cost>(gatherv, gatherv_hierarchical),
    make<scatter_hierarchical_cost>(scatter, "hierarchical", scatter_hierarchical),
    telling<scatterv_hierarchical_cost>(scatterv, scatterv_hierarchical),
    make<allgather_hierarchical_cost>(allgather, "hierarchical", allgather_hierarchical),
    make<allgather_hierarchical_split_cost>(allgather, "hierarchical_split", allgather_hierarchical_split, even),
    make<allgather_hierarchical_cost>(allgatherv, "hierarchical", allgatherv_hierarchical),
    make<alltoall_hierarchical_cost>(alltoall, "hierarchical", alltoall_hierarchical),
    make<alltoall_hierarchical_split_cost>(alltoall, "hierarchical_split", alltoall_hierarchical_split, even),
    telling<alltoallv_hierarchical_cost>(alltoallv, alltoallv_hierarchical),
});

}  // namespace

std::span<const Algorithm> hierarchical_algorithms_of(Operation operation) { return rows_of(operation, table); }

}  // namespace tutti::schedules
