// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/layout.hpp"

#include <algorithm>
#include <map>

namespace tutti::schedules {

Layout::Layout(const Problem& p, Leaders rule)
    : rank_(p.rank), spread_(spread_of(p.node_of, p.size)), shares_nodes_(p.shares_nodes) {
  std::map<int, int> number_of;
  for (int rank = 0; rank < p.size; ++rank) {
    const int name = p.node_of.empty() ? 0 : p.node_of[static_cast<std::size_t>(rank)];
    const auto [found, is_new] = number_of.try_emplace(name, nodes());
    if (is_new) {
      members_.emplace_back();
      leaders_.push_back(rank);
    }
    Ranks& members = members_[static_cast<std::size_t>(found->second)];
    nodes_of_.push_back(found->second);
    indices_.push_back(static_cast<int>(members.size()));
    members.push_back(rank);
  }
  node_ = node_of(p.rank);
  if (rule == Leaders::root) leaders_[static_cast<std::size_t>(node_of(p.root))] = p.root;
  for (const Ranks& members : members_) {
    firsts_.push_back(order_.size());
    order_.insert(order_.end(), members.begin(), members.end());
  }
}

Ranks Layout::peers() const {
  Ranks ranks;
  for (const Ranks& members : members_) ranks.push_back(members[static_cast<std::size_t>(index())]);
  return ranks;
}

Spread spread_of(std::span<const int> node_of, int size) {
  if (node_of.empty()) return {size, 1, size, size, true};
  std::map<int, int> ranks_of;
  int changes = 0;
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    ++ranks_of[node_of[i]];
    if (i > 0 && node_of[i] != node_of[i - 1]) ++changes;
  }
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [smallest, largest] = std::ranges::minmax_element(ranks_of, less);
  const int nodes = static_cast<int>(ranks_of.size());
  return {size, nodes, largest->second, smallest->second, changes + 1 == nodes};
}

bool meets(const Spread& spread, LayoutNeed need) {
  switch (need) {
    case LayoutNeed::even:
      return spread.even();
    case LayoutNeed::adjacent:
      return spread.adjacent;
    case LayoutNeed::none:
      break;
  }
  return true;
}

}  // namespace tutti::schedules
