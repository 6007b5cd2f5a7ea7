// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/composer.hpp"
#include "schedules/phase_choice.hpp"

/// The steps that hierarchical algorithms are made of.
namespace tutti::schedules {

using Generate = Schedule (*)(const Problem& problem);

/// A collective among the members of a node: an exchange over their shared memory, or a flat algorithm.
struct Phase {
  Operation operation;
  Generate flat;
};

/// The collective among this rank's node that suits `bytes`, which are as in cost_of(), and its cost on the
/// largest node.
[[nodiscard]] Phase phase_on_node(const Layout& l, const Problem& p, Operation operation, double bytes,
                                  KeepOrder keep = KeepOrder::no);
[[nodiscard]] PhaseCost cost_on_node(const Spread& s, Operation operation, double bytes,
                                     KeepOrder keep = KeepOrder::no);
/// The same for a collective of one rank of each node, which `senders` ranks of each node make at the same time, each
/// with such bytes.
[[nodiscard]] Generate flat_across(const Layout& l, const Problem& p, Operation operation, double bytes, double senders,
                                   KeepOrder keep = KeepOrder::no);
[[nodiscard]] PhaseCost cost_across(const Spread& s, Operation operation, double bytes, double senders,
                                    KeepOrder keep = KeepOrder::no);

/// A phase in which the root alone sends or receives.
[[nodiscard]] inline PhaseCost star(const Cost& cost) { return {cost, 1, false}; }

/// Appends it with this rank's problem among the members. A flat algorithm begins after the messages of this round.
void on_node(Composer& c, const Layout& l, const Phase& phase, const Problem& p, const Slice& in, const Slice& out,
             Start start = Start::after);

/// The same with a count for all and the node's leader as the root.
void on_node(Composer& c, const Layout& l, const Phase& phase, std::size_t count, const Slice& in, const Slice& out);

/// Appends a flat algorithm among the leaders, in order of nodes, and nothing on the other ranks.
void among_leaders(Composer& c, const Layout& l, Generate flat, int root_node, std::size_t count, const Slice& in,
                   const Slice& out);

/// Appends a flat algorithm among the ranks at this rank's place of every node, and nothing on ranks without peers.
void among_peers(Composer& c, const Layout& l, Generate flat, int root_node, std::size_t count, const Slice& in,
                 const Slice& out);

/// Gathers the members' blocks at their leader, or scatters them from there: one count and place per member, the places
/// one behind another.
void gather_blocks(Composer& c, const Layout& l, std::span<const std::size_t> counts,
                   std::span<const std::size_t> displs, const Slice& own, const Slice& whole);
void scatter_blocks(Composer& c, const Layout& l, std::span<const std::size_t> counts,
                    std::span<const std::size_t> displs, const Slice& whole, const Slice& own);

/// A vector that is divided among the members of a node: as many shares as the smallest node has members. Each rank
/// with peers has a share, its peers the same one; the others have none.
class Shares {
 public:
  /// `one_round`: a phase on a node takes one round, so that it may run beside other phases on the node.
  Shares(const Layout& layout, const Problem& problem, std::size_t count, bool one_round = false);
  [[nodiscard]] Block own() const {
    const auto index = static_cast<std::size_t>(layout_->index());
    return {lists_.displs[index], lists_.counts[index]};
  }

  /// Combines the members' vectors, in rank order where Starts::order asks for it; each gets its share.
  void reduce_scatter(Composer& c, const Slice& whole, const Slice& share) const;
  [[nodiscard]] static PhaseCost reduce_scatter_cost(const Spread& s, double bytes, bool one_round = false);
  /// Brings the shares of all members together: on all of them, or on the leader.
  void allgather(Composer& c, const Slice& share, const Slice& whole) const;
  [[nodiscard]] static PhaseCost allgather_cost(const Spread& s, double bytes, bool one_round = false);
  void gather(Composer& c, const Slice& share, const Slice& whole) const;
  /// Gives the members their shares of the leader's vector.
  void scatter(Composer& c, const Slice& whole, const Slice& share) const;

 private:
  const Layout* layout_;
  const Problem* problem_;
  double bytes_;  ///< as cost_of() takes them: as if all members of this node had a share
  bool one_round_;
  CountLists lists_;
};

/// The blocks of the ranks of this rank's node, of those of all ranks.
[[nodiscard]] Blocks of_members(const Layout& l, const Blocks& ranks);

/// The bytes that make a phase on the largest node as long as its longest share does: all have one size by the smallest
/// node.
[[nodiscard]] constexpr double bytes_with_shares(const Spread& s, double bytes) { return bytes * s.most / s.least; }

/// Blocks of ranks, and of nodes, in order of nodes without gaps: the order in which groups of ranks pass data on.
class NodeBlocks {
 public:
  /// `counts` has the count of each rank's block.
  NodeBlocks(const Layout& layout, std::vector<std::size_t> counts);
  NodeBlocks(const Layout& layout, std::size_t count)
      : NodeBlocks(layout, std::vector<std::size_t>(layout.order().size(), count)) {}

  [[nodiscard]] int ranks() const { return static_cast<int>(of_rank_.size()); }
  [[nodiscard]] std::size_t total() const { return total_; }
  /// The place of the block of a rank, or of a whole node.
  [[nodiscard]] const Block& of_rank(int rank) const { return of_rank_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Block of_node(int node) const {
    return {node_displs_[static_cast<std::size_t>(node)], node_counts_[static_cast<std::size_t>(node)]};
  }
  /// One count and place per node.
  [[nodiscard]] std::span<const std::size_t> node_counts() const { return node_counts_; }
  [[nodiscard]] std::span<const std::size_t> node_displs() const { return node_displs_; }
  /// One count and place per member; places count from the start of the node's block.
  [[nodiscard]] std::vector<std::size_t> member_counts(int node) const;
  [[nodiscard]] std::vector<std::size_t> member_displs(int node) const;
  /// Whether blocks at other places are in this order and without gaps too, but for a shift.
  [[nodiscard]] bool lie_as(const Blocks& blocks) const;

 private:
  const Layout* layout_;
  Blocks of_rank_;
  std::vector<std::size_t> node_counts_;
  std::vector<std::size_t> node_displs_;
  std::size_t total_ = 0;
};

/// Gathers the members' blocks at their leader, at the node's place in `whole`, which only leaders need.
void gather_on_node(Composer& c, const Layout& l, const NodeBlocks& blocks, const Slice& own, const Slice& whole);

/// Brings the blocks of all ranks to every leader, in `whole`. `flat` is an allgatherv.
void allgather_to_leaders(Composer& c, const Layout& l, const NodeBlocks& blocks, Generate flat, const Slice& own,
                          const Slice& whole);

/// Gathers the nodes' blocks from their leaders at the root, in `whole`. Appends nothing on the other ranks.
void gather_from_leaders(Composer& c, const Layout& l, const NodeBlocks& blocks, const Problem& p, const Slice& mine,
                         const Slice& whole);

/// Combines the blocks of all ranks in one step, in the order of ranks.
void combine_ranks(Composer& c, const NodeBlocks& blocks, const Slice& whole, const Slice& result);
/// The cost where each rank contributes `bytes`.
[[nodiscard]] Cost combine_ranks_cost(const Spread& s, double bytes);

/// Copies between blocks in order of ranks, which begin where the slices do, and the same in order of nodes.
void to_rank_order(Composer& c, const NodeBlocks& from, const Slice& whole, const Blocks& to, const Slice& base);
void to_node_order(Composer& c, const Blocks& from, const Slice& base, const NodeBlocks& to, const Slice& whole);

/// Costs of phases one after the other.
[[nodiscard]] Cost operator+(const Cost& a, const Cost& b);
/// The cost of local copies.
[[nodiscard]] inline Cost copies(double bytes) { return {.copied_bytes = bytes}; }

}  // namespace tutti::schedules
