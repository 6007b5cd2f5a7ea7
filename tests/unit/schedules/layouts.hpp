// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tutti::schedules {

/// A way to lay ranks on nodes: the node of each rank.
struct NamedLayout {
  std::string name;
  std::vector<int> node_of;
};

inline std::vector<int> block_layout(int size, int per_node) {
  std::vector<int> node_of;
  for (int rank = 0; rank < size; ++rank) node_of.push_back(rank / per_node);
  return node_of;
}

inline std::vector<int> round_robin_layout(int size, int nodes) {
  std::vector<int> node_of;
  for (int rank = 0; rank < size; ++rank) node_of.push_back(rank % nodes);
  return node_of;
}

/// Nodes of 1, 2, 3, 1, 2, 3 … adjacent ranks.
inline std::vector<int> uneven_layout(int size) {
  std::vector<int> node_of;
  for (int node = 0; static_cast<int>(node_of.size()) < size; ++node)
    for (int i = 0; i <= node % 3 && static_cast<int>(node_of.size()) < size; ++i) node_of.push_back(node);
  return node_of;
}

/// Ranks thrown on nodes of very different sizes, always the same way; nodes in order of their lowest rank.
inline std::vector<int> scattered_layout(int size) {
  std::vector<int> node_of;
  std::vector<int> seen;
  unsigned state = 12345;
  for (int rank = 0; rank < size; ++rank) {
    state = state * 1103515245U + 12345U;
    const int drawn = static_cast<int>((state >> 16U) % 7U) * static_cast<int>((state >> 20U) % 3U);
    auto found = std::find(seen.begin(), seen.end(), drawn);
    if (found == seen.end()) found = seen.insert(seen.end(), drawn);
    node_of.push_back(static_cast<int>(found - seen.begin()));
  }
  return node_of;
}

inline std::vector<NamedLayout> layouts(int size) {
  std::vector<NamedLayout> all{{"one node", std::vector<int>(static_cast<std::size_t>(size), 0)},
                               {"one rank a node", block_layout(size, 1)},
                               {"blocks of 2", block_layout(size, 2)},
                               {"blocks of 4", block_layout(size, 4)},
                               {"round robin over 2", round_robin_layout(size, std::min(2, size))},
                               {"round robin over 3", round_robin_layout(size, std::min(3, size))},
                               {"uneven", uneven_layout(size)},
                               {"scattered", scattered_layout(size)}};
  if (size % 3 == 0) all.push_back({"3 even blocks", block_layout(size, size / 3)});
  return all;
}

}  // namespace tutti::schedules
