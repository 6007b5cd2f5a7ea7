// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace tutti::schedules {

/// The node of each rank, without an entry for each: nodes of equally many ranks one after the other are two numbers,
/// others are runs of ranks that follow one another on a node. Nodes are counted in order of their lowest rank.
class NodeMap {
 public:
  /// All ranks are on one node.
  NodeMap() = default;
  /// Rank r is on the node with the name node_of[r].
  NodeMap(std::span<const int> node_of);
  NodeMap(const std::vector<int>& node_of) : NodeMap(std::span<const int>(node_of)) {}
  /// `size` ranks in blocks of `per_node`; the last block may be shorter.
  [[nodiscard]] static NodeMap blocks(int size, int per_node);

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int nodes() const { return nodes_; }
  [[nodiscard]] int most() const { return most_; }                 ///< ranks of the largest node
  [[nodiscard]] int least() const { return least_; }               ///< ranks of the smallest node
  [[nodiscard]] bool is_adjacent() const { return is_adjacent_; }  ///< the ranks of each node follow one another
  [[nodiscard]] int node(int rank) const;
  /// What is kept beside the numbers above.
  [[nodiscard]] std::size_t entries() const { return runs_.size(); }

  friend bool operator==(const NodeMap&, const NodeMap&) = default;

 private:
  struct Run {
    int first = 0;  ///< its lowest rank
    int node = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  void drop_runs_of_equal_blocks();

  int size_ = 0;
  int nodes_ = 1;
  int most_ = 0;
  int least_ = 0;
  bool is_adjacent_ = true;
  int block_ = 0;  ///< ranks of a node, if all have so many one after the other; then there are no runs
  std::vector<Run> runs_{};
};

}  // namespace tutti::schedules
