// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/problem.hpp"
#include "schedules/registry.hpp"
#include "schedules/schedule.hpp"

/// Algorithms over nodes and leaders: flat algorithms on each node and between nodes, composed into one schedule with
/// Problem::node_of as the map. Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, Exploiting Hierarchy in Parallel
/// Computer Networks to Optimize Collective Operation Performance, IPDPS 2000. Nodes may have different numbers of
/// ranks and any order of ranks, unless the registry gives a LayoutNeed. Without a map all ranks are on one node.
///
/// Three forms:
///   by leaders    one rank of a node speaks for it: fewest messages between nodes
///   scatter, ring the same with phases of fewest bytes, for long vectors
///   split         every rank speaks to the ranks at its own place of the other nodes: no rank carries what the others
///                 could, and all links of a node are used; where nodes differ, as many ranks as the smallest one has
///                 do so, and an algorithm that gives each rank a block of its own needs nodes of equally many ranks
/// and `gather` for reductions that combine once, in rank order on any layout: contributions travel unreduced.
///
/// A rank that passes a block of gatherv, scatterv or alltoallv on must know its size, which only the root or the two
/// ends know: the ranks of a node tell one another first (Problem::told). Whether blocks between two nodes travel
/// together is then decided for each two nodes, by their mean size, which both nodes know.
namespace tutti::schedules {

/// Signals go up a binomial tree on each node, through dissemination among the leaders, and down again.
[[nodiscard]] Schedule barrier_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost barrier_hierarchical_cost(const Spread& spread, double bytes);

/// Runs among the leaders, then on each node: binomial trees, or scatter and allgather.
[[nodiscard]] Schedule bcast_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost bcast_hierarchical_cost(const Spread& spread, double bytes);
/// The root scatters on its node, each share goes to its peers on all nodes, allgather.
[[nodiscard]] Schedule bcast_hierarchical_split(const Problem& problem);
[[nodiscard]] LevelCost bcast_hierarchical_split_cost(const Spread& spread, double bytes);
/// Chunks follow one another down two trees among the leaders and two on each node (NodeTrees): while one is on its
/// node, the next ones are between the nodes. Luo et al., HAN: a Hierarchical AutotuNed Collective Communication
/// Framework, CLUSTER 2020, with the trees of bcast_double_tree.
[[nodiscard]] Schedule bcast_hierarchical_pipeline(const Problem& problem);
[[nodiscard]] LevelCost bcast_hierarchical_pipeline_cost(const Spread& spread, double bytes);

/// Runs on each node, then among the leaders.
[[nodiscard]] Schedule reduce_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost reduce_hierarchical_cost(const Spread& spread, double bytes);
/// Reduce-scatter on each node, reduce of each share among peers, gather on the root's node.
[[nodiscard]] Schedule reduce_hierarchical_split(const Problem& problem);
[[nodiscard]] LevelCost reduce_hierarchical_split_cost(const Spread& spread, double bytes);
/// Up the trees of bcast_hierarchical_pipeline. Ranks are taken from the root upwards: not in order.
[[nodiscard]] Schedule reduce_hierarchical_pipeline(const Problem& problem);
[[nodiscard]] LevelCost reduce_hierarchical_pipeline_cost(const Spread& spread, double bytes);
/// Leaders pass contributions to the root, which combines all in rank order.
[[nodiscard]] Schedule reduce_hierarchical_gather(const Problem& problem);
[[nodiscard]] LevelCost reduce_hierarchical_gather_cost(const Spread& spread, double bytes);

/// Reduce to the leader, allreduce among leaders, broadcast.
[[nodiscard]] Schedule allreduce_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost allreduce_hierarchical_cost(const Spread& spread, double bytes);
/// Reduce-scatter on each node, allreduce of each segment across, allgather. Jia et al., Highly Scalable Deep Learning
/// Training System with Mixed-Precision, 2018.
[[nodiscard]] Schedule allreduce_hierarchical_split(const Problem& problem);
[[nodiscard]] LevelCost allreduce_hierarchical_split_cost(const Spread& spread, double bytes);
/// The same in chunks, of which one is on its node while another is between the nodes.
[[nodiscard]] Schedule allreduce_hierarchical_pipeline(const Problem& problem);
[[nodiscard]] LevelCost allreduce_hierarchical_pipeline_cost(const Spread& spread, double bytes);
/// Brings contributions to all leaders, which combine them in rank order and broadcast.
[[nodiscard]] Schedule allreduce_hierarchical_gather(const Problem& problem);
[[nodiscard]] LevelCost allreduce_hierarchical_gather_cost(const Spread& spread, double bytes);

/// Reduce to the leader, reduce-scatter of whole nodes among leaders, scatter; or both reduce-scatters by all ranks.
[[nodiscard]] Schedule reduce_scatter_block_hierarchical(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost reduce_scatter_hierarchical_cost(const Spread& spread, double bytes);
[[nodiscard]] Schedule reduce_scatter_block_hierarchical_split(const Problem& problem);
[[nodiscard]] Schedule reduce_scatter_hierarchical_split(const Problem& problem);
[[nodiscard]] LevelCost reduce_scatter_hierarchical_split_cost(const Spread& spread, double bytes);

/// Scan on each node, exscan among the nodes' last ranks, which have the sums of their nodes, broadcast of the sum of
/// all earlier nodes. Needs adjacent ranks: a prefix of ranks is then whole nodes and a part of one.
[[nodiscard]] Schedule scan_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost scan_hierarchical_cost(const Spread& spread, double bytes);
[[nodiscard]] Schedule exscan_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost exscan_hierarchical_cost(const Spread& spread, double bytes);

/// Goes to the leader, then among leaders to the root; a scatter goes the same way back.
[[nodiscard]] Schedule gather_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost gather_hierarchical_cost(const Spread& spread, double bytes);
[[nodiscard]] Schedule scatter_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost scatter_hierarchical_cost(const Spread& spread, double bytes);

/// The blocks of a node go to its leader, and in one message to the root; the root's node gathers meanwhile. A scatter
/// goes the same way back.
[[nodiscard]] Schedule gatherv_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost gatherv_hierarchical_cost(const Spread& spread, double bytes);
[[nodiscard]] Schedule scatterv_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost scatterv_hierarchical_cost(const Spread& spread, double bytes);

/// Gather to the leader, allgather of whole nodes among leaders, broadcast; or allgather among peers, then on each
/// node.
[[nodiscard]] Schedule allgather_hierarchical(const Problem& problem);
[[nodiscard]] Schedule allgatherv_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost allgather_hierarchical_cost(const Spread& spread, double bytes);
[[nodiscard]] Schedule allgather_hierarchical_split(const Problem& problem);
[[nodiscard]] LevelCost allgather_hierarchical_split_cost(const Spread& spread, double bytes);

/// Everything to the leader, exchange of whole nodes among leaders, scatter; or an exchange on each node by the place
/// of the receiver, then among peers. Traeff, Rougier, MPI Collectives and Datatypes for Hierarchical All-to-all
/// Communication, EuroMPI 2014.
[[nodiscard]] Schedule alltoall_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost alltoall_hierarchical_cost(const Spread& spread, double bytes);
[[nodiscard]] Schedule alltoall_hierarchical_split(const Problem& problem);
[[nodiscard]] LevelCost alltoall_hierarchical_split_cost(const Spread& spread, double bytes);

/// Each rank carries what its node exchanges with some of the other nodes: the nodes are dealt out to the ranks. Blocks
/// go to their carriers, in one message to the other node, and to their receivers; those on the node go meanwhile. The
/// form of "locality-aware" exchanges: Bienz, Gropp, Olson, Node aware sparse matrix-vector multiplication, JPDC 2019.
[[nodiscard]] Schedule alltoallv_hierarchical(const Problem& problem);
[[nodiscard]] LevelCost alltoallv_hierarchical_cost(const Spread& spread, double bytes);

}  // namespace tutti::schedules
