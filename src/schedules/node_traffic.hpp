// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/layout.hpp"

namespace tutti::schedules {

/// Whether that many blocks between two nodes, of `count` elements in all, travel as one message.
[[nodiscard]] inline bool are_joined(const Problem& p, std::size_t count, std::size_t blocks) {
  return count * p.element_size / blocks <= p.joined_bytes;
}

/// What the ranks of this node send to the others in an alltoallv, or receive from them, as they have told one another.
/// The other nodes are dealt out to the ranks of this node, which carry the joined messages.
class NodeTraffic {
 public:
  enum class Direction : std::uint8_t { sent, received };
  NodeTraffic(const Layout& layout, const Problem& problem, Direction direction);

  /// What the rank at that place of this node exchanges with a rank, and with all ranks of a node.
  [[nodiscard]] std::size_t with_rank(int index, int rank) const;
  [[nodiscard]] std::size_t with_node(int index, int node) const;
  /// The same for all ranks of this node.
  [[nodiscard]] std::size_t of_node(int node) const { return of_node_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] bool is_joined(int node) const { return is_joined_[static_cast<std::size_t>(node)]; }

  /// The nodes whose joined messages the rank at that place carries.
  [[nodiscard]] std::vector<int> carried_by(int index) const;
  /// What passes between the rank at a place and a carrier.
  [[nodiscard]] std::size_t through(int index, int carrier) const;
  /// Whether anything passes through a carrier.
  [[nodiscard]] bool has_joined() const;

 private:
  const Layout& layout_;
  const Problem& problem_;
  std::size_t column_;
  std::vector<std::size_t> of_node_;
  std::vector<bool> is_joined_;
};

/// The rank that carries what a node exchanges with another one.
[[nodiscard]] inline int carrier_of(const Layout& l, int node, int other) {
  return l.members(node)[static_cast<std::size_t>(other % l.node_size(node))];
}

}  // namespace tutti::schedules
