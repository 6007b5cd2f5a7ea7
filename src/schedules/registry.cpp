// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/registry.hpp"

#include <array>

#include "schedules/algorithms.hpp"
#include "schedules/blocks.hpp"
#include "schedules/registry_table.hpp"

namespace tutti::schedules {
namespace {

constexpr bool is_even(int size) { return size % 2 == 0; }
constexpr bool is_power_of_two(int size) { return floor_power(size) == size; }

constexpr Algorithm make(Operation operation, std::string_view name, Schedule (*generate)(const Problem&),
                         Cost (*cost)(int, double), Keeps keeps = Keeps::nothing) {
  return keeping(keeps, {operation, name, generate, cost});
}

constexpr Algorithm make(Operation operation, std::string_view name, Schedule (*generate)(const Problem&),
                         Cost (*chunked_cost)(int, double, double), Keeps keeps = Keeps::nothing) {
  Algorithm algorithm = keeping(keeps, {operation, name, generate, nullptr});
  algorithm.chunked_cost = chunked_cost;
  return algorithm;
}

constexpr Algorithm only_for(bool (*fits)(int size), Algorithm algorithm) {
  algorithm.fits = fits;
  return algorithm;
}

constexpr Algorithm reaching(Reach reach, Algorithm algorithm) {
  algorithm.reach = reach;
  return algorithm;
}

constexpr Algorithm bine(Reach reach, Algorithm algorithm) {
  algorithm.distances = Distances::bine;
  return reaching(reach, algorithm);
}

/// Good for few ranks only: above, a candidate by name alone.
constexpr Algorithm up_to(int ranks, Algorithm algorithm) {
  algorithm.max_size = ranks;
  return algorithm;
}

using enum Operation;

// One operation after the other, its default for an unknown machine first.
constexpr auto table = std::to_array<Algorithm>({
    make(barrier, "dissemination", barrier_dissemination, barrier_dissemination_cost),
    make(barrier, "dissemination4", barrier_dissemination4, barrier_dissemination4_cost),
    reaching(Reach::doubling,
             make(barrier, "recursive_doubling", barrier_recursive_doubling, barrier_recursive_doubling_cost)),
    reaching(Reach::branching, make(barrier, "binomial", barrier_binomial, barrier_binomial_cost)),
    reaching(Reach::doubling, make(bcast, "binomial", bcast_binomial, bcast_binomial_cost)),
    reaching(Reach::doubling, make(bcast, "knomial", bcast_knomial, bcast_knomial_cost)),
    reaching(Reach::neighbours,
             make(bcast, "scatter_allgather", bcast_scatter_allgather, bcast_scatter_allgather_cost)),
    only_for(is_power_of_two, reaching(Reach::growing, make(bcast, "scatter_doubling", bcast_scatter_doubling,
                                                            bcast_scatter_doubling_cost))),
    reaching(Reach::trees, make(bcast, "double_tree", bcast_double_tree, bcast_double_tree_cost)),
    reaching(Reach::around, make(bcast, "circulant", bcast_circulant, bcast_circulant_cost)),
    reaching(Reach::neighbours, make(bcast, "chain", bcast_chain, bcast_chain_cost)),
    up_to(8, reaching(Reach::star, make(bcast, "linear", bcast_linear, bcast_linear_cost))),
    reaching(Reach::doubling, make(reduce, "binomial", reduce_binomial, reduce_binomial_cost, order)),
    reaching(Reach::doubling, make(reduce, "knomial", reduce_knomial, reduce_knomial_cost, order)),
    make(reduce, "scatter_gather", reduce_scatter_gather, reduce_scatter_gather_cost, once),
    reaching(Reach::shrinking, make(reduce, "rabenseifner", reduce_rabenseifner, reduce_rabenseifner_cost, order)),
    bine(Reach::shrinking, make(reduce, "bine_halving", reduce_bine_halving, reduce_rabenseifner_cost)),
    reaching(Reach::trees, make(reduce, "double_tree", reduce_double_tree, reduce_double_tree_cost)),
    reaching(Reach::around, make(reduce, "circulant", reduce_circulant, reduce_circulant_cost)),
    up_to(16, reaching(Reach::star, make(reduce, "direct", reduce_direct, reduce_direct_cost, once))),
    reaching(Reach::doubling, make(allreduce, "recursive_doubling", allreduce_recursive_doubling,
                                   allreduce_recursive_doubling_cost, order)),
    reaching(Reach::doubling, make(allreduce, "recursive_multiplying", allreduce_recursive_multiplying,
                                   allreduce_recursive_multiplying_cost, order)),
    reaching(Reach::shrinking,
             make(allreduce, "rabenseifner", allreduce_rabenseifner, allreduce_rabenseifner_cost, order)),
    bine(Reach::doubling, make(allreduce, "bine_doubling", allreduce_bine_doubling, allreduce_recursive_doubling_cost)),
    bine(Reach::shrinking, make(allreduce, "bine_halving", allreduce_bine_halving, allreduce_rabenseifner_cost)),
    reaching(Reach::growing_around, make(allreduce, "circulant", allreduce_circulant, allreduce_circulant_cost)),
    reaching(Reach::shrinking_around, make(allreduce, "sparbit", allreduce_sparbit, allreduce_sparbit_cost)),
    only_for(is_even,
             bine(Reach::shrinking, make(allreduce, "bine_blocks", allreduce_bine_blocks, allreduce_sparbit_cost))),
    reaching(Reach::neighbours, make(allreduce, "ring", allreduce_ring, allreduce_ring_cost)),
    reaching(Reach::trees, make(allreduce, "double_tree", allreduce_double_tree, allreduce_double_tree_cost, order)),
    make(allreduce, "scatter_allgather", allreduce_scatter_allgather, allreduce_scatter_allgather_cost, once),
    reaching(Reach::branching,
             make(allreduce, "reduce_bcast", allreduce_reduce_bcast, allreduce_reduce_bcast_cost, order)),
    up_to(16, make(allreduce, "direct", allreduce_direct, allreduce_direct_cost, once)),
    make(reduce_scatter_block, "direct", reduce_scatter_block_direct, reduce_scatter_direct_cost, once),
    reaching(Reach::neighbours,
             make(reduce_scatter_block, "ring", reduce_scatter_block_ring, reduce_scatter_ring_cost)),
    reaching(Reach::growing, make(reduce_scatter_block, "recursive_halving", reduce_scatter_block_recursive_halving,
                                  reduce_scatter_recursive_halving_cost)),
    reaching(Reach::shrinking, make(reduce_scatter_block, "butterfly", reduce_scatter_block_butterfly,
                                    reduce_scatter_butterfly_cost, order)),
    bine(Reach::shrinking, make(reduce_scatter_block, "bine_butterfly", reduce_scatter_block_bine_butterfly,
                                reduce_scatter_butterfly_cost)),
    reaching(Reach::growing_around,
             make(reduce_scatter_block, "circulant", reduce_scatter_block_circulant, reduce_scatter_circulant_cost)),
    reaching(Reach::shrinking_around,
             make(reduce_scatter_block, "sparbit", reduce_scatter_block_sparbit, reduce_scatter_sparbit_cost)),
    only_for(is_even, bine(Reach::shrinking, make(reduce_scatter_block, "bine_blocks", reduce_scatter_block_bine_blocks,
                                                  reduce_scatter_sparbit_cost))),
    make(reduce_scatter, "direct", reduce_scatter_direct, reduce_scatter_direct_cost, once),
    reaching(Reach::neighbours, make(reduce_scatter, "ring", reduce_scatter_ring, reduce_scatter_ring_cost)),
    reaching(Reach::growing, make(reduce_scatter, "recursive_halving", reduce_scatter_recursive_halving,
                                  reduce_scatter_recursive_halving_cost)),
    reaching(Reach::shrinking,
             make(reduce_scatter, "butterfly", reduce_scatter_butterfly, reduce_scatter_butterfly_cost, order)),
    bine(Reach::shrinking,
         make(reduce_scatter, "bine_butterfly", reduce_scatter_bine_butterfly, reduce_scatter_butterfly_cost)),
    reaching(Reach::growing_around,
             make(reduce_scatter, "circulant", reduce_scatter_circulant, reduce_scatter_circulant_cost)),
    reaching(Reach::shrinking_around,
             make(reduce_scatter, "sparbit", reduce_scatter_sparbit, reduce_scatter_sparbit_cost)),
    only_for(is_even, bine(Reach::shrinking, make(reduce_scatter, "bine_blocks", reduce_scatter_bine_blocks,
                                                  reduce_scatter_sparbit_cost))),
    reaching(Reach::doubling,
             make(scan, "recursive_doubling", scan_recursive_doubling, scan_recursive_doubling_cost, order)),
    reaching(Reach::neighbours, make(scan, "linear", scan_linear, scan_linear_cost, order)),
    reaching(Reach::above, make(scan, "direct", scan_direct, scan_direct_cost, once)),
    reaching(Reach::doubling,
             make(exscan, "recursive_doubling", exscan_recursive_doubling, exscan_recursive_doubling_cost, order)),
    reaching(Reach::neighbours, make(exscan, "linear", exscan_linear, exscan_linear_cost, order)),
    reaching(Reach::above, make(exscan, "direct", exscan_direct, exscan_direct_cost, once)),
    reaching(Reach::growing, make(gather, "binomial", gather_binomial, gather_binomial_cost)),
    reaching(Reach::growing, make(gather, "knomial", gather_knomial, gather_knomial_cost)),
    reaching(Reach::star, make(gather, "linear", gather_linear, gather_linear_cost)),
    reaching(Reach::star, make(gatherv, "linear", gatherv_linear, gather_linear_cost)),
    reaching(Reach::growing, make(scatter, "binomial", scatter_binomial, scatter_binomial_cost)),
    reaching(Reach::growing, make(scatter, "knomial", scatter_knomial, scatter_knomial_cost)),
    reaching(Reach::star, make(scatter, "linear", scatter_linear, scatter_linear_cost)),
    reaching(Reach::star, make(scatterv, "linear", scatterv_linear, scatter_linear_cost)),
    reaching(Reach::neighbours, make(allgather, "ring", allgather_ring, allgather_ring_cost)),
    reaching(Reach::growing_around, make(allgather, "bruck", allgather_bruck, allgather_bruck_cost)),
    reaching(Reach::growing_around, make(allgather, "circulant", allgather_circulant, allgather_circulant_cost)),
    only_for(is_power_of_two,
             reaching(Reach::growing, make(allgather, "recursive_doubling", allgather_recursive_doubling,
                                           allgather_recursive_doubling_cost))),
    only_for(is_even, reaching(Reach::alternating, make(allgather, "neighbor_exchange", allgather_neighbor_exchange,
                                                        allgather_neighbor_exchange_cost))),
    only_for(is_even, bine(Reach::growing,
                           make(allgather, "bine_doubling", allgather_bine_doubling, allgather_bine_doubling_cost))),
    only_for(is_power_of_two,
             reaching(Reach::shrinking, make(allgather, "butterfly", allgather_butterfly, allgather_butterfly_cost))),
    only_for(is_power_of_two, bine(Reach::shrinking, make(allgather, "bine_butterfly", allgather_bine_butterfly,
                                                          allgather_butterfly_cost))),
    reaching(Reach::shrinking_around, make(allgather, "sparbit", allgather_sparbit, allgather_sparbit_cost)),
    only_for(is_even,
             bine(Reach::shrinking, make(allgather, "bine_blocks", allgather_bine_blocks, allgather_sparbit_cost))),
    make(allgather, "direct", allgather_direct, allgather_direct_cost),
    make(allgather, "gather_bcast", allgather_gather_bcast, allgather_gather_bcast_cost),
    reaching(Reach::neighbours, make(allgatherv, "ring", allgatherv_ring, allgather_ring_cost)),
    reaching(Reach::growing_around, make(allgatherv, "bruck", allgatherv_bruck, allgather_bruck_cost)),
    reaching(Reach::shrinking_around, make(allgatherv, "sparbit", allgatherv_sparbit, allgather_sparbit_cost)),
    only_for(is_even,
             bine(Reach::shrinking, make(allgatherv, "bine_blocks", allgatherv_bine_blocks, allgather_sparbit_cost))),
    make(allgatherv, "direct", allgatherv_direct, allgather_direct_cost),
    make(alltoall, "pairwise", alltoall_pairwise, alltoall_pairwise_cost),
    make(alltoall, "direct", alltoall_direct, alltoall_direct_cost),
    reaching(Reach::around, make(alltoall, "bruck", alltoall_bruck, alltoall_bruck_cost)),
    make(alltoall, "bruck4", alltoall_bruck4, alltoall_bruck4_cost),
    make(alltoall, "bruck8", alltoall_bruck8, alltoall_bruck8_cost),
    make(alltoall, "bruck16", alltoall_bruck16, alltoall_bruck16_cost),
    make(alltoallv, "pairwise", alltoallv_pairwise, alltoall_pairwise_cost),
    make(alltoallv, "direct", alltoallv_direct, alltoall_direct_cost),
});

}  // namespace

std::span<const Algorithm> algorithms_of(Operation operation) { return rows_of(operation, table); }

const Algorithm* find_algorithm(Operation operation, std::string_view name) {
  for (const Algorithm& algorithm : algorithms_of(operation))
    if (algorithm.name == name) return &algorithm;
  for (const Algorithm& algorithm : hierarchical_algorithms_of(operation))
    if (algorithm.name == name) return &algorithm;
  return nullptr;
}

}  // namespace tutti::schedules
