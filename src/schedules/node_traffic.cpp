// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/node_traffic.hpp"

namespace tutti::schedules {

NodeTraffic::NodeTraffic(const Layout& layout, const Problem& problem, Direction direction)
    : layout_(layout), problem_(problem), column_(direction == Direction::sent ? 0 : layout.order().size()) {
  for (int node = 0; node < layout.nodes(); ++node) {
    std::size_t count = 0;
    for (int index = 0; index < layout.node_size(); ++index) count += with_node(index, node);
    of_node_.push_back(count);
    const std::size_t blocks = layout.members().size() * layout.members(node).size();
    is_joined_.push_back(node != layout.node() && are_joined(problem, count, blocks));
  }
}

std::size_t NodeTraffic::with_rank(int index, int rank) const {
  const std::size_t row = static_cast<std::size_t>(index) * told_by_rank(Operation::alltoallv, problem_.size);
  return problem_.told[row + column_ + static_cast<std::size_t>(rank)];
}

std::size_t NodeTraffic::with_node(int index, int node) const {
  std::size_t count = 0;
  for (const int rank : layout_.members(node)) count += with_rank(index, rank);
  return count;
}

std::vector<int> NodeTraffic::carried_by(int index) const {
  std::vector<int> nodes;
  for (int node = index; node < layout_.nodes(); node += layout_.node_size())
    if (is_joined(node)) nodes.push_back(node);
  return nodes;
}

std::size_t NodeTraffic::through(int index, int carrier) const {
  std::size_t count = 0;
  for (const int node : carried_by(carrier)) count += with_node(index, node);
  return count;
}

bool NodeTraffic::has_joined() const {
  for (int node = 0; node < layout_.nodes(); ++node)
    if (is_joined(node) && of_node(node) > 0) return true;
  return false;
}

}  // namespace tutti::schedules
