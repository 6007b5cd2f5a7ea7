// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/node_map.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace tutti::schedules {

NodeMap::NodeMap(std::span<const int> node_of) : size_(static_cast<int>(node_of.size())) {
  std::map<int, int> number_of;
  std::vector<int> ranks_of;
  for (int rank = 0; rank < size_; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (rank > 0 && node_of[place] == node_of[place - 1]) {
      ++ranks_of[static_cast<std::size_t>(runs_.back().node)];
      continue;
    }
    const int node = number_of.try_emplace(node_of[place], static_cast<int>(number_of.size())).first->second;
    ranks_of.resize(number_of.size(), 0);
    ++ranks_of[static_cast<std::size_t>(node)];
    runs_.push_back({rank, node});
  }
  if (empty()) return;
  nodes_ = static_cast<int>(ranks_of.size());
  const auto [least, most] = std::ranges::minmax(ranks_of);
  most_ = most;
  least_ = least;
  is_adjacent_ = runs_.size() == ranks_of.size();
  if (least_ == most_ && is_adjacent_) drop_runs_of_equal_blocks();
}

NodeMap NodeMap::blocks(int size, int per_node) {
  NodeMap map;
  map.size_ = size;
  map.nodes_ = (size + per_node - 1) / per_node;
  map.most_ = std::min(size, per_node);
  map.least_ = map.nodes_ == 1 || size % per_node == 0 ? map.most_ : size % per_node;
  map.block_ = map.most_;
  return map;
}

void NodeMap::drop_runs_of_equal_blocks() {
  block_ = most_;
  runs_ = {};
}

int NodeMap::node(int rank) const {
  if (empty()) return 0;
  if (block_ > 0) return rank / block_;
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), rank, [](int r, const Run& run) { return r < run.first; });
  return (after - 1)->node;
}

}  // namespace tutti::schedules
