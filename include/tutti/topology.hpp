// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/detail/export.hpp>
#include <vector>

namespace tutti {

/// The place of one rank. Indices are hwloc's logical indices; -1 if the rank is not bound to a single object.
struct Place {
  int node = 0;        ///< index of the node, 0 … Topology::nodes - 1, ordered by the lowest rank on each
  int local_rank = 0;  ///< index of the rank on its node, in rank order
  int numa = -1;
  int l3 = -1;
  int core = -1;
  int cores_allowed = 0;  ///< processing units that the rank may use
  int socket = -1;
};

/// The machine under a communicator, equal on all ranks.
struct Topology {
  int nodes = 1;
  std::vector<Place> places;            ///< one per rank
  std::vector<int> ranks_per_node;      ///< one per node
  std::vector<int> cores_per_node;      ///< processing units that the ranks of the node may use together, one per node
  std::vector<std::string> host_names;  ///< one per node
  bool oversubscribed = false;          ///< more ranks than processing units, on a node or on nodes of one kernel
  /// The groups of the network that each node lies in, such as cabinets or switches: a list for each level, the largest
  /// groups first, with the number of each node's group. Each group lies in one group of the level before it. Numbers
  /// count groups in the order of their first nodes. Empty: unknown (docs/tuning.md).
  std::vector<std::vector<int>> network_groups;
  std::string network_source;  ///< what named them: "SLURM_TOPOLOGY_ADDR"; empty: nothing
};

/// Whether each rank has a second processing unit, for a thread beside it.
[[nodiscard]] inline bool has_second_cores(const Topology& topology) {
  for (std::size_t node = 0; node < topology.ranks_per_node.size(); ++node) {
    if (topology.cores_per_node[node] < 2 * topology.ranks_per_node[node]) return false;
  }
  return true;
}

}  // namespace tutti
