// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "schedules/blocks.hpp"
#include "schedules/problem.hpp"
#include "schedules/registry.hpp"

namespace tutti::schedules {

using Ranks = std::vector<int>;

/// The nodes of a problem as one rank sees them. Nodes are counted in order of their lowest rank, members in rank
/// order. The leader of a node is its lowest rank; in a rooted operation the root leads its node.
class Layout {
 public:
  enum class Leaders { lowest, root };
  explicit Layout(const Problem& problem, Leaders rule = Leaders::lowest);

  [[nodiscard]] int nodes() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] int node() const { return node_; }
  [[nodiscard]] int node_of(int rank) const { return nodes_of_[static_cast<std::size_t>(rank)]; }
  /// This rank's place among the members of its node.
  [[nodiscard]] int index() const { return index_of(rank_); }
  [[nodiscard]] int index_of(int rank) const { return indices_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Ranks& members(int node) const { return members_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] const Ranks& members() const { return members(node_); }
  [[nodiscard]] int node_size(int node) const { return static_cast<int>(members(node).size()); }
  [[nodiscard]] int node_size() const { return node_size(node_); }

  [[nodiscard]] const Ranks& leaders() const { return leaders_; }
  [[nodiscard]] bool is_leader() const { return leaders_[static_cast<std::size_t>(node_)] == rank_; }
  /// The place of this node's leader among its members.
  [[nodiscard]] int leader_index() const { return index_of(leaders_[static_cast<std::size_t>(node_)]); }

  /// Whether every node has a rank at this rank's place.
  [[nodiscard]] bool has_peers() const { return index() < spread_.least; }
  /// These ranks, in order of nodes, if there are any.
  [[nodiscard]] Ranks peers() const;

  /// All ranks, node by node, and the place among them where the members of a node begin.
  [[nodiscard]] const Ranks& order() const { return order_; }
  [[nodiscard]] std::size_t first_of(int node) const { return firsts_[static_cast<std::size_t>(node)]; }

  [[nodiscard]] const Spread& spread() const { return spread_; }
  /// Whether the phases on a node are exchanges over its memory.
  [[nodiscard]] bool shares_nodes() const { return shares_nodes_; }

 private:
  int rank_;
  int node_ = 0;
  std::vector<int> nodes_of_;
  std::vector<int> indices_;
  std::vector<Ranks> members_;
  Ranks leaders_;
  Ranks order_;
  std::vector<std::size_t> firsts_;
  Spread spread_;
  bool shares_nodes_;
};

/// The spread of ranks whose nodes are given; empty: `size` ranks on one node.
[[nodiscard]] Spread spread_of(std::span<const int> node_of, int size);

/// Whether ranks spread like this meet the algorithm's need.
[[nodiscard]] bool meets(const Spread& spread, LayoutNeed need);

}  // namespace tutti::schedules
