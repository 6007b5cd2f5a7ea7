// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "schedules/composer.hpp"
#include "schedules/double_tree.hpp"

namespace tutti::schedules {

/// Two trees over all ranks, below the root, which leads its node: those of DoubleTree among the leaders, and below
/// each leader those among the members of its node. Either tree carries half of each chunk.
class NodeTrees {
 public:
  /// This rank's neighbours in one tree, as ranks, or DoubleTree::none. Only leaders have some on other nodes.
  struct Node {
    int parent = DoubleTree::none;
    std::array<int, 2> across{DoubleTree::none, DoubleTree::none};  ///< children
    std::array<int, 2> on_node{DoubleTree::none, DoubleTree::none};
    int leader_depth = 0;
    int depth = 0;
    [[nodiscard]] std::vector<int> children(bool with_node) const {
      std::vector<int> all;
      for (const int child : across) all.push_back(child);
      for (const int child : on_node)
        if (with_node) all.push_back(child);
      std::erase(all, DoubleTree::none);
      return all;
    }
  };

  NodeTrees(const Layout& l, const Problem& p) : nodes_{node(l, p, 0), node(l, p, 1)} {}

  [[nodiscard]] const Node& operator[](int tree) const { return nodes_[static_cast<std::size_t>(tree)]; }
  /// The depth at which this rank's leader has both halves of a chunk.
  [[nodiscard]] int leader_depth() const { return std::max(nodes_[0].leader_depth, nodes_[1].leader_depth); }

  /// The depth of the deepest trees on a node. Those of an odd number may be less deep than those of one less.
  [[nodiscard]] static int depth_on_node(const Spread& s) {
    const int depth = DoubleTree::depth(s.most);
    return s.even() ? depth : std::max(depth, DoubleTree::depth(s.most - 1));
  }
  /// The hops beyond the first until the last rank has the first chunk.
  [[nodiscard]] static int hops(const Spread& s) {
    return std::max(DoubleTree::depth(s.nodes) + depth_on_node(s) - 1, 0);
  }
  [[nodiscard]] static int chunks(const Spread& s, double bytes) {
    return pipeline_chunks(hops(s), bytes, s.starts.through);
  }
  /// The half of a chunk that a tree carries.
  [[nodiscard]] static Block half(const Block& chunk, int tree) { return Chunks(chunk, 2)[tree]; }

 private:
  [[nodiscard]] static Node node(const Layout& l, const Problem& p, int tree) {
    const DoubleTree::Node among = in_group(l.leaders(), l.node(), l.node_of(p.root), tree);
    const DoubleTree::Node below = in_group(l.members(), l.index(), l.leader_index(), tree);
    const std::array on_node{below.left, below.right};
    if (l.is_leader()) return {among.parent, {among.left, among.right}, on_node, among.depth, among.depth};
    return {
        .parent = below.parent, .on_node = on_node, .leader_depth = among.depth, .depth = among.depth + below.depth};
  }

  /// The neighbours of the rank at a place of a group.
  [[nodiscard]] static DoubleTree::Node in_group(const RankList& group, int place, int root, int tree) {
    DoubleTree::Node node = DoubleTree(problem_in_group(place, group.size(), root, 0), root).node(tree);
    for (int* neighbour : {&node.parent, &node.left, &node.right})
      if (*neighbour != DoubleTree::none) *neighbour = group[static_cast<std::size_t>(*neighbour)];
    return node;
  }

  std::array<Node, 2> nodes_;
};

/// The cost of such a pipeline, a bcast or a reduce: chunks are on the nodes beside others between nodes, and the last
/// one ends on its node alone.
[[nodiscard]] inline LevelCost cost_of_node_trees(const Spread& s, Operation operation, double bytes) {
  if (s.size == 1) return {{}, {}, {}, {.copied_bytes = combines(operation) ? bytes : 0}};
  const int chunks = NodeTrees::chunks(s, bytes);
  const double chunk = bytes / chunks;
  const auto through_both = [chunk](double rounds) {
    return Cost{.rounds = rounds, .bytes = rounds * chunk, .messages = 2 * rounds};
  };
  const double across = s.nodes > 1 ? DoubleTree::depth(s.nodes) - 1 + chunks : 0;
  const double beside = s.most > 1 ? chunks : 0;
  const double after = NodeTrees::hops(s) + chunks - std::max(across, beside);
  LevelCost cost{{}, {through_both(across), 1, false}, {{operation, chunk}}};
  // A leader has a child on its node in both trees and two on other nodes in one.
  if (combines(operation)) cost.local.reduced_bytes = 3 * chunks * chunk + 2 * NodeTrees::hops(s) * chunk;
  const double senders = std::max(s.most - 1, 1);
  cost.on_node = {{through_both(beside), senders, false, true}, {through_both(after), 1, false}};
  cost.chunks = chunks;
  return cost;
}

}  // namespace tutti::schedules
