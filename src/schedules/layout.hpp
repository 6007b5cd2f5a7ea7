// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "schedules/blocks.hpp"
#include "schedules/problem.hpp"
#include "schedules/rank_list.hpp"
#include "schedules/registry.hpp"

namespace tutti::schedules {

/// The nodes of a problem as one rank sees them. Nodes are counted in order of their lowest rank, members in rank
/// order. The leader of a node is its lowest rank; in a rooted operation the root leads its node. Nodes of equally many
/// ranks one after the other take no memory that grows with them.
class Layout {
 public:
  enum class Leaders { lowest, root };
  explicit Layout(const Problem& problem, Leaders rule = Leaders::lowest);

  [[nodiscard]] int nodes() const { return spread_.nodes; }
  [[nodiscard]] int node() const { return node_of(rank_); }
  [[nodiscard]] int node_of(int rank) const;
  /// This rank's place among the members of its node.
  [[nodiscard]] int index() const { return index_of(rank_); }
  [[nodiscard]] int index_of(int rank) const;
  [[nodiscard]] RankList members(int node) const;
  [[nodiscard]] RankList members() const { return members(node()); }
  [[nodiscard]] int node_size(int node) const { return static_cast<int>(members(node).size()); }
  [[nodiscard]] int node_size() const { return node_size(node()); }

  [[nodiscard]] RankList leaders() const;
  [[nodiscard]] int leader(int node) const { return leaders()[static_cast<std::size_t>(node)]; }
  [[nodiscard]] bool is_leader() const { return leader(node()) == rank_; }
  /// The place of this node's leader among its members.
  [[nodiscard]] int leader_index() const { return index_of(leader(node())); }

  /// Whether every node has a rank at this rank's place.
  [[nodiscard]] bool has_peers() const { return index() < spread_.least; }
  /// These ranks, in order of nodes, if there are any.
  [[nodiscard]] RankList peers() const;
  /// The last members of every node, in order of nodes.
  [[nodiscard]] RankList last_members() const;

  /// All ranks, node by node, and the place among them where the members of a node begin.
  [[nodiscard]] RankList order() const;
  [[nodiscard]] std::size_t first_of(int node) const;

  [[nodiscard]] const Spread& spread() const { return spread_; }
  /// Whether the phases on a node are exchanges over its memory.
  [[nodiscard]] bool shares_nodes() const { return shares_nodes_; }
  [[nodiscard]] std::size_t element_size() const { return element_size_; }

 private:
  /// The groups of ranks, kept where nodes differ in size or their ranks are apart.
  struct Tables {
    Ranks nodes_of;
    Ranks indices;
    std::vector<Ranks> members;
    Ranks leaders;
    Ranks last_members;
    Ranks peers;
    Ranks order;
    std::vector<std::size_t> firsts;
  };
  [[nodiscard]] std::shared_ptr<const Tables> tabulate(const NodeMap& map) const;

  int rank_;
  int size_;
  Spread spread_;
  int root_ = -1;  ///< the rank that leads its node in place of the lowest; -1: none
  bool shares_nodes_;
  std::size_t element_size_;
  std::shared_ptr<const Tables> tables_{};
};

/// The spread of ranks whose nodes are given; empty: `size` ranks on one node.
[[nodiscard]] Spread spread_of(const NodeMap& node_of, int size);

/// Whether ranks spread like this meet the algorithm's need.
[[nodiscard]] bool meets(const Spread& spread, LayoutNeed need);

}  // namespace tutti::schedules
