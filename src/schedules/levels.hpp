// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/composer.hpp"

/// The steps that hierarchical algorithms are made of.
namespace tutti::schedules {

using Generate = Schedule (*)(const Problem& problem);

/// A flat algorithm among the members of this rank's node, with its leader as the root.
void on_node(Composer& c, const Layout& l, Generate flat, std::size_t count, const Slice& in, const Slice& out);

/// A flat algorithm among the leaders, in order of nodes; nothing on the other ranks.
void among_leaders(Composer& c, const Layout& l, Generate flat, int root_node, std::size_t count, const Slice& in,
                   const Slice& out);

/// A flat algorithm among the ranks at this rank's place of every node. Needs even nodes.
void among_peers(Composer& c, const Layout& l, Generate flat, std::size_t count, const Slice& in, const Slice& out);

/// Blocks of ranks, and of nodes, in order of nodes without gaps: how groups of ranks hand data on.
class NodeBlocks {
 public:
  /// counts: of each rank's block.
  NodeBlocks(const Layout& layout, std::vector<std::size_t> counts);
  NodeBlocks(const Layout& layout, std::size_t count)
      : NodeBlocks(layout, std::vector<std::size_t>(layout.order().size(), count)) {}

  [[nodiscard]] std::size_t total() const { return total_; }
  /// Where the block of a rank, or of a whole node, lies.
  [[nodiscard]] const Block& of_rank(int rank) const { return of_rank_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Block of_node(int node) const {
    return {node_displs_[static_cast<std::size_t>(node)], node_counts_[static_cast<std::size_t>(node)]};
  }
  /// One count and place a node.
  [[nodiscard]] std::span<const std::size_t> node_counts() const { return node_counts_; }
  [[nodiscard]] std::span<const std::size_t> node_displs() const { return node_displs_; }
  /// One count and place a member, the places from the node's block on.
  [[nodiscard]] std::vector<std::size_t> member_counts(int node) const;
  [[nodiscard]] std::vector<std::size_t> member_displs(int node) const;
  /// Whether blocks that lie like this elsewhere are, but for a shift, in this order without gaps.
  [[nodiscard]] bool lie_as(const Blocks& blocks) const;

 private:
  const Layout* layout_;
  Blocks of_rank_;
  std::vector<std::size_t> node_counts_;
  std::vector<std::size_t> node_displs_;
  std::size_t total_ = 0;
};

/// The members' blocks to their leader, at the node's place in `whole`, which only leaders need.
void gather_on_node(Composer& c, const Layout& l, const NodeBlocks& blocks, const Slice& own, const Slice& whole);

/// Every leader gets the blocks of all ranks in `whole`. `flat`: an allgatherv.
void allgather_to_leaders(Composer& c, const Layout& l, const NodeBlocks& blocks, Generate flat, const Slice& own,
                          const Slice& whole);

/// Copies between blocks in order of ranks, which begin where the slices do, and the same in order of nodes.
void to_rank_order(Composer& c, const NodeBlocks& from, const Slice& whole, const Blocks& to, const Slice& base);
void to_node_order(Composer& c, const Blocks& from, const Slice& base, const NodeBlocks& to, const Slice& whole);

/// Costs of phases one after the other.
[[nodiscard]] Cost operator+(const Cost& a, const Cost& b);
/// Of local copies.
[[nodiscard]] inline Cost copies(double bytes) { return {.copied_bytes = bytes}; }

}  // namespace tutti::schedules
