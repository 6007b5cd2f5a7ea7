// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/problem.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/schedule.hpp"

/// Every algorithm: a pure function of the problem, and its cost as a closed formula (see Cost). With one rank each is
/// a local copy; of zero elements nothing is sent.
namespace tutti::algorithms {

/// Signals over distances 1, 2, 4 …; ceil(log2 size) rounds. Hensgen, Finkel, Manber, Two Algorithms for Barrier
/// Synchronization, 1988. Its messages are empty.
[[nodiscard]] Schedule barrier_dissemination(const Problem& problem);
[[nodiscard]] Cost barrier_dissemination_cost(int size, double bytes);

/// Signals up a binomial tree to rank 0 and down again: fewest messages. Mellor-Crummey, Scott, ACM TOCS 9(1), 1991.
[[nodiscard]] Schedule barrier_binomial(const Problem& problem);
[[nodiscard]] Cost barrier_binomial_cost(int size, double bytes);

/// Down the binomial tree at the root. Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations
/// in MPICH, IJHPCA 2005. In all broadcasts the data is in `output` at the root from the start; there is no input.
[[nodiscard]] Schedule bcast_binomial(const Problem& problem);
[[nodiscard]] Cost bcast_binomial_cost(int size, double bytes);

/// Binomial scatter, then allgather round a ring that leaves out what the scatter brought. Barnett, Shuler, van de
/// Geijn et al., Interprocessor Collective Communication Library, 1994.
[[nodiscard]] Schedule bcast_scatter_allgather(const Problem& problem);
[[nodiscard]] Cost bcast_scatter_allgather_cost(int size, double bytes);

/// The root sends to all in one round.
[[nodiscard]] Schedule bcast_linear(const Problem& problem);
[[nodiscard]] Cost bcast_linear_cost(int size, double bytes);

/// Up the binomial tree at rank 0, adjacent ranks first so that order is kept, and from rank 0 to the root. Thakur et
/// al., IJHPCA 2005. The root alone has an output, in all reduces.
[[nodiscard]] Schedule reduce_binomial(const Problem& problem);
[[nodiscard]] Cost reduce_binomial_cost(int size, double bytes);

/// The root receives all contributions and combines them in one step.
[[nodiscard]] Schedule reduce_direct(const Problem& problem);
[[nodiscard]] Cost reduce_direct_cost(int size, double bytes);

/// Every rank combines its segment of all contributions in one step, and the root gathers the segments.
[[nodiscard]] Schedule reduce_scatter_gather(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_gather_cost(int size, double bytes);

/// Exchange with partners at distances 1, 2, 4 …, the surplus over a power of two folded in first. Thakur et al.,
/// IJHPCA 2005; Rabenseifner, ICCS 2004.
[[nodiscard]] Schedule allreduce_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost allreduce_recursive_doubling_cost(int size, double bytes);

/// Recursive halving (nearest partner first, so that order is kept), then recursive doubling. Rabenseifner, ICCS 2004.
[[nodiscard]] Schedule allreduce_rabenseifner(const Problem& problem);
[[nodiscard]] Cost allreduce_rabenseifner_cost(int size, double bytes);

/// Reduce-scatter and allgather round the ring: 2 (size - 1) / size of the vector a rank, the least possible.
/// Patarasuk, Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, JPDC 2009.
[[nodiscard]] Schedule allreduce_ring(const Problem& problem);
[[nodiscard]] Cost allreduce_ring_cost(int size, double bytes);

/// One shot: all send all to all, each combines in one step.
[[nodiscard]] Schedule allreduce_direct(const Problem& problem);
[[nodiscard]] Cost allreduce_direct_cost(int size, double bytes);

/// Two shots: segment i of all goes to rank i, which combines in one step and sends the result to all. Bytes of the
/// ring in two rounds.
[[nodiscard]] Schedule allreduce_scatter_allgather(const Problem& problem);
[[nodiscard]] Cost allreduce_scatter_allgather_cost(int size, double bytes);

/// Part i of all goes to rank i, which combines in one step.
[[nodiscard]] Schedule reduce_scatter_block_direct(const Problem& problem);

/// Partial sums go round the ring. Patarasuk, Yuan, JPDC 2009.
[[nodiscard]] Schedule reduce_scatter_block_ring(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_direct(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_direct_cost(int size, double bytes);
[[nodiscard]] Schedule reduce_scatter_ring(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_ring_cost(int size, double bytes);

/// A chain: each rank waits for the one before.
[[nodiscard]] Schedule scan_linear(const Problem& problem);
[[nodiscard]] Cost scan_linear_cost(int size, double bytes);

/// Windows of 1, 2, 4 … ranks. Hillis, Steele, Data Parallel Algorithms, CACM 29(12), 1986.
[[nodiscard]] Schedule scan_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost scan_recursive_doubling_cost(int size, double bytes);

/// Each rank sends to all above it and combines in one step.
[[nodiscard]] Schedule scan_direct(const Problem& problem);
[[nodiscard]] Cost scan_direct_cost(int size, double bytes);

/// As the scans; the output of rank 0 stays unwritten.
[[nodiscard]] Schedule exscan_linear(const Problem& problem);
[[nodiscard]] Cost exscan_linear_cost(int size, double bytes);
[[nodiscard]] Schedule exscan_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost exscan_recursive_doubling_cost(int size, double bytes);
[[nodiscard]] Schedule exscan_direct(const Problem& problem);
[[nodiscard]] Cost exscan_direct_cost(int size, double bytes);

/// All send to the root in one round.
[[nodiscard]] Schedule gather_linear(const Problem& problem);
[[nodiscard]] Cost gather_linear_cost(int size, double bytes);
[[nodiscard]] Schedule gatherv_linear(const Problem& problem);

/// Up the binomial tree at the root, whole subtrees a message. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule gather_binomial(const Problem& problem);
[[nodiscard]] Cost gather_binomial_cost(int size, double bytes);

/// The root sends to all in one round.
[[nodiscard]] Schedule scatter_linear(const Problem& problem);
[[nodiscard]] Cost scatter_linear_cost(int size, double bytes);
[[nodiscard]] Schedule scatterv_linear(const Problem& problem);

/// Down the binomial tree at the root, whole subtrees a message. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule scatter_binomial(const Problem& problem);
[[nodiscard]] Cost scatter_binomial_cost(int size, double bytes);

/// Blocks go round the ring. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule allgather_ring(const Problem& problem);
[[nodiscard]] Cost allgather_ring_cost(int size, double bytes);
[[nodiscard]] Schedule allgatherv_ring(const Problem& problem);

/// Doubling numbers of blocks from distances 1, 2, 4 …, for any size. Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS
/// 8(11), 1997.
[[nodiscard]] Schedule allgather_bruck(const Problem& problem);
[[nodiscard]] Cost allgather_bruck_cost(int size, double bytes);

/// All send to all in one round.
[[nodiscard]] Schedule allgather_direct(const Problem& problem);
[[nodiscard]] Cost allgather_direct_cost(int size, double bytes);
[[nodiscard]] Schedule allgatherv_direct(const Problem& problem);

/// One partner to send to and one to receive from a round. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule alltoall_pairwise(const Problem& problem);
[[nodiscard]] Cost alltoall_pairwise_cost(int size, double bytes);
[[nodiscard]] Schedule alltoallv_pairwise(const Problem& problem);

/// All messages in one round.
[[nodiscard]] Schedule alltoall_direct(const Problem& problem);
[[nodiscard]] Cost alltoall_direct_cost(int size, double bytes);
[[nodiscard]] Schedule alltoallv_direct(const Problem& problem);

/// Blocks travel the bits of their distance: log2 size rounds for log2 size / 2 times the bytes. Bruck et al., IEEE
/// TPDS 8(11), 1997.
[[nodiscard]] Schedule alltoall_bruck(const Problem& problem);
[[nodiscard]] Cost alltoall_bruck_cost(int size, double bytes);

}  // namespace tutti::algorithms
