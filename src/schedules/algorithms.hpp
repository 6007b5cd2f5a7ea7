// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/problem.hpp"
#include "schedules/registry.hpp"
#include "schedules/schedule.hpp"

/// Every algorithm: a pure function of the problem, and its cost as a closed formula (see Cost). With one rank each is
/// a local copy. With zero elements nothing is sent.
namespace tutti::schedules {

/// Signals over distances 1, 2, 4 …; ceil(log2 size) rounds. Hensgen, Finkel, Manber, Two Algorithms for Barrier
/// Synchronization, 1988. Its messages are empty.
[[nodiscard]] Schedule barrier_dissemination(const Problem& problem);
[[nodiscard]] Cost barrier_dissemination_cost(int size, double bytes);

/// Three signals a round, over 1, 2 and 3 times the distances 1, 4, 16 …: half the rounds. Hoefler, Mehlan, Mietke,
/// Rehm, Fast Barrier Synchronization for InfiniBand, CAC 2006.
[[nodiscard]] Schedule barrier_dissemination4(const Problem& problem);
[[nodiscard]] Cost barrier_dissemination4_cost(int size, double bytes);

/// Exchange of signals with partners at distances 1, 2, 4 …, the surplus over a power of two folded in first. No pair
/// spans two nodes before the distances exceed a node. MPICH; Hoefler, Mehlan, Mietke, Rehm, A Survey of Barrier
/// Algorithms for Coarse Grained Supercomputers, 2004.
[[nodiscard]] Schedule barrier_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost barrier_recursive_doubling_cost(int size, double bytes);

/// Signals up a binomial tree to rank 0 and down again: fewest messages. Mellor-Crummey, Scott, ACM TOCS 9(1), 1991.
[[nodiscard]] Schedule barrier_binomial(const Problem& problem);
[[nodiscard]] Cost barrier_binomial_cost(int size, double bytes);

/// Down the binomial tree at the root. Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations
/// in MPICH, IJHPCA 2005. In all broadcasts the data is in `output` at the root from the start; there is no input.
[[nodiscard]] Schedule bcast_binomial(const Problem& problem);
[[nodiscard]] Cost bcast_binomial_cost(int size, double bytes);

/// Down the 4-nomial tree at the root: half the rounds of the binomial one, three messages a round.
[[nodiscard]] Schedule bcast_knomial(const Problem& problem);
[[nodiscard]] Cost bcast_knomial_cost(int size, double bytes);

/// Binomial scatter, then allgather round a ring that leaves out what the scatter brought. Barnett, Shuler, van de
/// Geijn et al., Interprocessor Collective Communication Library, 1994.
[[nodiscard]] Schedule bcast_scatter_allgather(const Problem& problem);
[[nodiscard]] Cost bcast_scatter_allgather_cost(int size, double bytes);

/// Binomial scatter, then exchange of all known blocks with partners at distances 1, 2, 4 …, which leaves out what the
/// scatter brought: a logarithm of rounds. For powers of two. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule bcast_scatter_doubling(const Problem& problem);
[[nodiscard]] Cost bcast_scatter_doubling_cost(int size, double bytes);

/// The root sends to all in one round.
[[nodiscard]] Schedule bcast_linear(const Problem& problem);
[[nodiscard]] Cost bcast_linear_cost(int size, double bytes);

/// Chunks follow one another down a chain of all ranks from the root: the bytes once, but size - 2 hops before the last
/// rank has its first chunk. The number of chunks balances the two; see pipeline_chunks.
[[nodiscard]] Schedule bcast_chain(const Problem& problem);
[[nodiscard]] Cost bcast_chain_cost(int size, double bytes, double start);

/// Halves of the data, in chunks, down two binary trees whose inner ranks are different: the bytes once and logarithmic
/// hops. Sanders, Speck, Träff, Two-tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan, Parallel
/// Computing 35(12), 2009.
[[nodiscard]] Schedule bcast_double_tree(const Problem& problem);
[[nodiscard]] Cost bcast_double_tree_cost(int size, double bytes, double start);

/// In chunks over a circulant graph: the data once in the least rounds that there are, the logarithm beyond the chunks,
/// for any size. Träff, Optimal Broadcast Schedules in Logarithmic Time, arXiv 2407.18004, 2024.
[[nodiscard]] Schedule bcast_circulant(const Problem& problem);
[[nodiscard]] Cost bcast_circulant_cost(int size, double bytes, double start);

/// Up the binomial tree at rank 0, adjacent ranks first so that order is kept, and from rank 0 to the root. Thakur et
/// al., IJHPCA 2005. The root alone has an output, in all reduces.
[[nodiscard]] Schedule reduce_binomial(const Problem& problem);
[[nodiscard]] Cost reduce_binomial_cost(int size, double bytes);

/// Like reduce_binomial on the 4-nomial tree. Up to four operands are combined in one step.
[[nodiscard]] Schedule reduce_knomial(const Problem& problem);
[[nodiscard]] Cost reduce_knomial_cost(int size, double bytes);

/// The root receives all contributions and combines them in one step.
[[nodiscard]] Schedule reduce_direct(const Problem& problem);
[[nodiscard]] Cost reduce_direct_cost(int size, double bytes);

/// Every rank combines its segment of all contributions in one step, and the root gathers the segments.
[[nodiscard]] Schedule reduce_scatter_gather(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_gather_cost(int size, double bytes);

/// The halvings of allreduce_rabenseifner, then a binomial gather of the parts. Rabenseifner, ICCS 2004.
[[nodiscard]] Schedule reduce_rabenseifner(const Problem& problem);
[[nodiscard]] Cost reduce_rabenseifner_cost(int size, double bytes);

/// The same with Bine's distances. De Sensi et al., Bine Trees, SC 2025.
[[nodiscard]] Schedule reduce_bine_halving(const Problem& problem);

/// Up the two trees of bcast_double_tree, in chunks. Ranks are taken from the root upwards: not in order.
[[nodiscard]] Schedule reduce_double_tree(const Problem& problem);
[[nodiscard]] Cost reduce_double_tree_cost(int size, double bytes, double start);

/// bcast_circulant run backwards: not in order.
[[nodiscard]] Schedule reduce_circulant(const Problem& problem);
[[nodiscard]] Cost reduce_circulant_cost(int size, double bytes, double start);

/// Exchange with partners at distances 1, 2, 4 …, the surplus over a power of two folded in first. Thakur et al.,
/// IJHPCA 2005; Rabenseifner, ICCS 2004.
[[nodiscard]] Schedule allreduce_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost allreduce_recursive_doubling_cost(int size, double bytes);

/// The same with Bine's distances, the farthest first, so that all ranks associate alike. De Sensi et al., SC 2025.
[[nodiscard]] Schedule allreduce_bine_doubling(const Problem& problem);

/// reduce_binomial to rank 0, then bcast_binomial: twice the rounds, a message a round and rank less.
[[nodiscard]] Schedule allreduce_reduce_bcast(const Problem& problem);
[[nodiscard]] Cost allreduce_reduce_bcast_cost(int size, double bytes);

/// Recursive doubling with groups of three and four that exchange in one round; the surplus over 2^i or 3 * 2^i ranks
/// is folded in first. Ruefenacht, Bull, Booth, Generalisation of Recursive Doubling for AllReduce, Parallel Computing
/// 69, 2017.
[[nodiscard]] Schedule allreduce_recursive_multiplying(const Problem& problem);
[[nodiscard]] Cost allreduce_recursive_multiplying_cost(int size, double bytes);

/// Recursive halving (nearest partner first, so that order is kept), then recursive doubling. Rabenseifner, ICCS 2004.
[[nodiscard]] Schedule allreduce_rabenseifner(const Problem& problem);
[[nodiscard]] Cost allreduce_rabenseifner_cost(int size, double bytes);

/// The same with Bine's distances; not in rank order. De Sensi et al., SC 2025.
[[nodiscard]] Schedule allreduce_bine_halving(const Problem& problem);

/// Reduce-scatter and allgather round the ring: 2 (size - 1) / size of the vector a rank, the least possible.
/// Patarasuk, Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, JPDC 2009.
[[nodiscard]] Schedule allreduce_ring(const Problem& problem);
[[nodiscard]] Cost allreduce_ring_cost(int size, double bytes);

/// Up and down two trees as in reduce_double_tree and bcast_double_tree, both ways at once. Rank 0 is above both trees
/// and these are in order, so rank order is kept. Sanders, Speck, Träff, Parallel Computing 35(12), 2009.
[[nodiscard]] Schedule allreduce_double_tree(const Problem& problem);
[[nodiscard]] Cost allreduce_double_tree_cost(int size, double bytes, double start);

/// Both halves of reduce_scatter_block_circulant and allgather_circulant: the least bytes in logarithmic rounds, for
/// any size. Träff, 2025.
[[nodiscard]] Schedule allreduce_circulant(const Problem& problem);
[[nodiscard]] Cost allreduce_circulant_cost(int size, double bytes);

/// reduce_scatter_block_sparbit, then allgather_sparbit: the least bytes in logarithmic rounds, the long messages near,
/// for any size; not in rank order.
[[nodiscard]] Schedule allreduce_sparbit(const Problem& problem);
[[nodiscard]] Cost allreduce_sparbit_cost(int size, double bytes);

/// The same with Bine's partners. For even sizes. De Sensi et al., SC 2025.
[[nodiscard]] Schedule allreduce_bine_blocks(const Problem& problem);

/// One shot: all send all to all, each combines in one step.
[[nodiscard]] Schedule allreduce_direct(const Problem& problem);
[[nodiscard]] Cost allreduce_direct_cost(int size, double bytes);

/// Two shots: segment i of all goes to rank i, which combines in one step and sends the result to all. Bytes of the
/// ring in two rounds.
[[nodiscard]] Schedule allreduce_scatter_allgather(const Problem& problem);
[[nodiscard]] Cost allreduce_scatter_allgather_cost(int size, double bytes);

/// Part i of all goes to rank i, which combines in one step.
[[nodiscard]] Schedule reduce_scatter_block_direct(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_direct(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_direct_cost(int size, double bytes);

/// Partial sums go round the ring. Patarasuk, Yuan, JPDC 2009.
[[nodiscard]] Schedule reduce_scatter_block_ring(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_ring(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_ring_cost(int size, double bytes);

/// Halves of the remaining parts go to partners at half the distance before; the surplus over a power of two is folded
/// in first. Log rounds and the least bytes; not in rank order. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule reduce_scatter_block_recursive_halving(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_recursive_halving(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_recursive_halving_cost(int size, double bytes);

/// Like recursive halving, but nearest partner first, so that order is kept; a last round brings each part from the
/// rank of its number's bits reversed. Träff, An Improved Algorithm for (Non-commutative) Reduce-Scatter, EuroPVM/MPI
/// 2005.
[[nodiscard]] Schedule reduce_scatter_block_butterfly(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_butterfly(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_butterfly_cost(int size, double bytes);

/// The same with Bine's distances; not in rank order. De Sensi et al., SC 2025.
[[nodiscard]] Schedule reduce_scatter_block_bine_butterfly(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_bine_butterfly(const Problem& problem);

/// Half of the remaining parts go to a rank ahead, around a circle, at half the distance before: log rounds and the
/// least bytes without a fold, for any size; not in rank order. Träff, Optimal, Non-pipelined Reduce-scatter and
/// Allreduce Algorithms, doi 10.34726/10760, 2025.
[[nodiscard]] Schedule reduce_scatter_block_circulant(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_circulant(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_circulant_cost(int size, double bytes);

/// allgather_sparbit run backwards: contributions go to ranks at doubling distances, each to a block in a message of
/// its own, so that the long exchanges stay near; log rounds and the least bytes without a fold, for any size; not in
/// rank order.
[[nodiscard]] Schedule reduce_scatter_block_sparbit(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_sparbit(const Problem& problem);
[[nodiscard]] Cost reduce_scatter_sparbit_cost(int size, double bytes);

/// The same with Bine's partners. For even sizes. De Sensi et al., SC 2025.
[[nodiscard]] Schedule reduce_scatter_block_bine_blocks(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_bine_blocks(const Problem& problem);

/// A chain: each rank waits for the one before.
[[nodiscard]] Schedule scan_linear(const Problem& problem);
[[nodiscard]] Cost scan_linear_cost(int size, double bytes);

/// Windows of 1, 2, 4 … ranks. Hillis, Steele, Data Parallel Algorithms, CACM 29(12), 1986.
[[nodiscard]] Schedule scan_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost scan_recursive_doubling_cost(int size, double bytes);

/// Each rank sends to all above it and combines in one step.
[[nodiscard]] Schedule scan_direct(const Problem& problem);
[[nodiscard]] Cost scan_direct_cost(int size, double bytes);

/// Like the scans, but the output of rank 0 stays unwritten.
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

/// Like gather_binomial on the 4-nomial tree.
[[nodiscard]] Schedule gather_knomial(const Problem& problem);
[[nodiscard]] Cost gather_knomial_cost(int size, double bytes);

/// The root sends to all in one round.
[[nodiscard]] Schedule scatter_linear(const Problem& problem);
[[nodiscard]] Cost scatter_linear_cost(int size, double bytes);
[[nodiscard]] Schedule scatterv_linear(const Problem& problem);

/// Down the binomial tree at the root, whole subtrees a message. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule scatter_binomial(const Problem& problem);
[[nodiscard]] Cost scatter_binomial_cost(int size, double bytes);

/// Like scatter_binomial on the 4-nomial tree.
[[nodiscard]] Schedule scatter_knomial(const Problem& problem);
[[nodiscard]] Cost scatter_knomial_cost(int size, double bytes);

/// Blocks go round the ring. Thakur et al., IJHPCA 2005.
[[nodiscard]] Schedule allgather_ring(const Problem& problem);
[[nodiscard]] Cost allgather_ring_cost(int size, double bytes);
[[nodiscard]] Schedule allgatherv_ring(const Problem& problem);

/// Doubling numbers of blocks from distances 1, 2, 4 …, for any size. Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS
/// 8(11), 1997.
[[nodiscard]] Schedule allgather_bruck(const Problem& problem);
[[nodiscard]] Cost allgather_bruck_cost(int size, double bytes);
[[nodiscard]] Schedule allgatherv_bruck(const Problem& problem);

/// Exchange of all known blocks with partners at distances 1, 2, 4 …, in place in the output. For powers of two. Thakur
/// et al., IJHPCA 2005.
[[nodiscard]] Schedule allgather_recursive_doubling(const Problem& problem);
[[nodiscard]] Cost allgather_recursive_doubling_cost(int size, double bytes);

/// reduce_scatter_block_circulant run backwards: as allgather_bruck, but in place in the output. Träff, 2025.
[[nodiscard]] Schedule allgather_circulant(const Problem& problem);
[[nodiscard]] Cost allgather_circulant_cost(int size, double bytes);

/// Exchange of all known blocks with Bine's partners, the nearest first, in place in the output. For even sizes. De
/// Sensi et al., SC 2025.
[[nodiscard]] Schedule allgather_bine_doubling(const Problem& problem);
[[nodiscard]] Cost allgather_bine_doubling_cost(int size, double bytes);

/// reduce_scatter_block_butterfly run backwards: a first round brings each block to the rank of its number's bits
/// reversed, and then the farthest partners exchange first, with one block. For powers of two.
[[nodiscard]] Schedule allgather_butterfly(const Problem& problem);
[[nodiscard]] Cost allgather_butterfly_cost(int size, double bytes);

/// The same with Bine's distances. De Sensi et al., SC 2025.
[[nodiscard]] Schedule allgather_bine_butterfly(const Problem& problem);

/// To ranks at halving distances, single blocks a message: the more the nearer, for any size. Loch, Koslovski, Sparbit:
/// a New Logarithmic-cost and Data Locality-aware MPI Allgather Algorithm, 2021.
[[nodiscard]] Schedule allgather_sparbit(const Problem& problem);
[[nodiscard]] Cost allgather_sparbit_cost(int size, double bytes);
[[nodiscard]] Schedule allgatherv_sparbit(const Problem& problem);

/// The same with Bine's partners: reduce_scatter_block_bine_blocks run backwards. For even sizes. De Sensi et al., SC
/// 2025.
[[nodiscard]] Schedule allgather_bine_blocks(const Problem& problem);
[[nodiscard]] Schedule allgatherv_bine_blocks(const Problem& problem);

/// Pairs of blocks go back and forth between neighbours: half the rounds of the ring. For even sizes. Chen, Zhang,
/// Zhang, Yuan, Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet, HPC Asia
/// 2005.
[[nodiscard]] Schedule allgather_neighbor_exchange(const Problem& problem);
[[nodiscard]] Cost allgather_neighbor_exchange_cost(int size, double bytes);

/// Runs gather_binomial to rank 0, then bcast_binomial of all blocks.
[[nodiscard]] Schedule allgather_gather_bcast(const Problem& problem);
[[nodiscard]] Cost allgather_gather_bcast_cost(int size, double bytes);

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

/// The same with digits of radix 4, three messages a round: half the rounds. Bruck et al. give all radices.
[[nodiscard]] Schedule alltoall_bruck4(const Problem& problem);
[[nodiscard]] Cost alltoall_bruck4_cost(int size, double bytes);

/// The same with radix 8 and 16: fewer bytes the more messages a round. Fan, Domke, Ba, Kumar, Configurable
/// Non-uniform All-to-all Algorithms, arXiv 2411.02581, 2024, choose the radix by the length likewise.
[[nodiscard]] Schedule alltoall_bruck8(const Problem& problem);
[[nodiscard]] Cost alltoall_bruck8_cost(int size, double bytes);
[[nodiscard]] Schedule alltoall_bruck16(const Problem& problem);
[[nodiscard]] Cost alltoall_bruck16_cost(int size, double bytes);

}  // namespace tutti::schedules
