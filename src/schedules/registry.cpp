// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/registry.hpp"

#include <algorithm>
#include <array>

#include "schedules/algorithms.hpp"
#include "schedules/blocks.hpp"

namespace tutti::schedules {
namespace {

constexpr bool is_even(int size) { return size % 2 == 0; }
constexpr bool is_power_of_two(int size) { return floor_power(size) == size; }

constexpr Algorithm only_for(bool (*fits)(int size), Algorithm algorithm) {
  algorithm.fits = fits;
  return algorithm;
}

// Columns: operation, name, schedule, cost, ordered, single_combine, max_size. Where operations do not combine,
// order means nothing and the flags stay false.
constexpr auto table = std::to_array<Algorithm>({
    {Operation::barrier, "dissemination", barrier_dissemination, barrier_dissemination_cost, false, false, 0},
    {Operation::barrier, "dissemination4", barrier_dissemination4, barrier_dissemination4_cost, false, false, 0},
    {Operation::barrier, "binomial", barrier_binomial, barrier_binomial_cost, false, false, 0},
    {Operation::bcast, "binomial", bcast_binomial, bcast_binomial_cost, false, false, 0},
    {Operation::bcast, "knomial", bcast_knomial, bcast_knomial_cost, false, false, 0},
    {Operation::bcast, "scatter_allgather", bcast_scatter_allgather, bcast_scatter_allgather_cost, false, false, 0},
    {Operation::bcast, "double_tree", bcast_double_tree, bcast_double_tree_cost, false, false, 0},
    {Operation::bcast, "chain", bcast_chain, bcast_chain_cost, false, false, 0},
    {Operation::bcast, "linear", bcast_linear, bcast_linear_cost, false, false, 8},
    {Operation::reduce, "binomial", reduce_binomial, reduce_binomial_cost, true, false, 0},
    {Operation::reduce, "knomial", reduce_knomial, reduce_knomial_cost, true, false, 0},
    {Operation::reduce, "scatter_gather", reduce_scatter_gather, reduce_scatter_gather_cost, true, true, 0},
    {Operation::reduce, "double_tree", reduce_double_tree, reduce_double_tree_cost, false, false, 0},
    {Operation::reduce, "direct", reduce_direct, reduce_direct_cost, true, true, 16},
    {Operation::allreduce, "recursive_doubling", allreduce_recursive_doubling, allreduce_recursive_doubling_cost, true,
     false, 0},
    {Operation::allreduce, "recursive_multiplying", allreduce_recursive_multiplying,
     allreduce_recursive_multiplying_cost, true, false, 0},
    {Operation::allreduce, "rabenseifner", allreduce_rabenseifner, allreduce_rabenseifner_cost, true, false, 0},
    {Operation::allreduce, "ring", allreduce_ring, allreduce_ring_cost, false, false, 0},
    {Operation::allreduce, "double_tree", allreduce_double_tree, allreduce_double_tree_cost, true, false, 0},
    {Operation::allreduce, "scatter_allgather", allreduce_scatter_allgather, allreduce_scatter_allgather_cost, true,
     true, 0},
    {Operation::allreduce, "reduce_bcast", allreduce_reduce_bcast, allreduce_reduce_bcast_cost, true, false, 0},
    {Operation::allreduce, "direct", allreduce_direct, allreduce_direct_cost, true, true, 16},
    {Operation::reduce_scatter_block, "direct", reduce_scatter_block_direct, reduce_scatter_direct_cost, true, true, 0},
    {Operation::reduce_scatter_block, "ring", reduce_scatter_block_ring, reduce_scatter_ring_cost, false, false, 0},
    {Operation::reduce_scatter_block, "recursive_halving", reduce_scatter_block_recursive_halving,
     reduce_scatter_recursive_halving_cost, false, false, 0},
    {Operation::reduce_scatter_block, "butterfly", reduce_scatter_block_butterfly, reduce_scatter_butterfly_cost, true,
     false, 0},
    {Operation::reduce_scatter, "direct", reduce_scatter_direct, reduce_scatter_direct_cost, true, true, 0},
    {Operation::reduce_scatter, "ring", reduce_scatter_ring, reduce_scatter_ring_cost, false, false, 0},
    {Operation::reduce_scatter, "recursive_halving", reduce_scatter_recursive_halving,
     reduce_scatter_recursive_halving_cost, false, false, 0},
    {Operation::reduce_scatter, "butterfly", reduce_scatter_butterfly, reduce_scatter_butterfly_cost, true, false, 0},
    {Operation::scan, "recursive_doubling", scan_recursive_doubling, scan_recursive_doubling_cost, true, false, 0},
    {Operation::scan, "linear", scan_linear, scan_linear_cost, true, false, 0},
    {Operation::scan, "direct", scan_direct, scan_direct_cost, true, true, 0},
    {Operation::exscan, "recursive_doubling", exscan_recursive_doubling, exscan_recursive_doubling_cost, true, false,
     0},
    {Operation::exscan, "linear", exscan_linear, exscan_linear_cost, true, false, 0},
    {Operation::exscan, "direct", exscan_direct, exscan_direct_cost, true, true, 0},
    {Operation::gather, "binomial", gather_binomial, gather_binomial_cost, false, false, 0},
    {Operation::gather, "knomial", gather_knomial, gather_knomial_cost, false, false, 0},
    {Operation::gather, "linear", gather_linear, gather_linear_cost, false, false, 0},
    {Operation::gatherv, "linear", gatherv_linear, gather_linear_cost, false, false, 0},
    {Operation::scatter, "binomial", scatter_binomial, scatter_binomial_cost, false, false, 0},
    {Operation::scatter, "knomial", scatter_knomial, scatter_knomial_cost, false, false, 0},
    {Operation::scatter, "linear", scatter_linear, scatter_linear_cost, false, false, 0},
    {Operation::scatterv, "linear", scatterv_linear, scatter_linear_cost, false, false, 0},
    {Operation::allgather, "ring", allgather_ring, allgather_ring_cost, false, false, 0},
    {Operation::allgather, "bruck", allgather_bruck, allgather_bruck_cost, false, false, 0},
    only_for(is_power_of_two, {Operation::allgather, "recursive_doubling", allgather_recursive_doubling,
                               allgather_recursive_doubling_cost, false, false, 0}),
    only_for(is_even, {Operation::allgather, "neighbor_exchange", allgather_neighbor_exchange,
                       allgather_neighbor_exchange_cost, false, false, 0}),
    {Operation::allgather, "direct", allgather_direct, allgather_direct_cost, false, false, 0},
    {Operation::allgather, "gather_bcast", allgather_gather_bcast, allgather_gather_bcast_cost, false, false, 0},
    {Operation::allgatherv, "ring", allgatherv_ring, allgather_ring_cost, false, false, 0},
    {Operation::allgatherv, "bruck", allgatherv_bruck, allgather_bruck_cost, false, false, 0},
    {Operation::allgatherv, "direct", allgatherv_direct, allgather_direct_cost, false, false, 0},
    {Operation::alltoall, "pairwise", alltoall_pairwise, alltoall_pairwise_cost, false, false, 0},
    {Operation::alltoall, "direct", alltoall_direct, alltoall_direct_cost, false, false, 0},
    {Operation::alltoall, "bruck", alltoall_bruck, alltoall_bruck_cost, false, false, 0},
    {Operation::alltoall, "bruck4", alltoall_bruck4, alltoall_bruck4_cost, false, false, 0},
    {Operation::alltoallv, "pairwise", alltoallv_pairwise, alltoall_pairwise_cost, false, false, 0},
    {Operation::alltoallv, "direct", alltoallv_direct, alltoall_direct_cost, false, false, 0},
});

constexpr std::array<std::string_view, 16> names = {
    "barrier",        "bcast",    "reduce",    "allreduce",  "reduce_scatter_block",
    "reduce_scatter", "scan",     "exscan",    "gather",     "gatherv",
    "scatter",        "scatterv", "allgather", "allgatherv", "alltoall",
    "alltoallv",
};

}  // namespace

std::span<const Algorithm> algorithms_of(Operation operation) {
  const auto is_of = [operation](const Algorithm& algorithm) { return algorithm.operation == operation; };
  const auto first = std::find_if(table.begin(), table.end(), is_of);
  return {first, std::find_if_not(first, table.end(), is_of)};
}

const Algorithm* find_algorithm(Operation operation, std::string_view name) {
  for (const Algorithm& algorithm : algorithms_of(operation))
    if (algorithm.name == name) return &algorithm;
  for (const Algorithm& algorithm : hierarchical_algorithms_of(operation))
    if (algorithm.name == name) return &algorithm;
  return nullptr;
}

std::string_view operation_name(Operation operation) { return names[static_cast<std::size_t>(operation)]; }

}  // namespace tutti::schedules
