// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/detail/export.hpp>
#include <vector>

namespace tutti {

/// Where one rank runs. Indices are hwloc's logical ones; -1 where the rank is not bound to a single object.
struct Place {
  int node = 0;        ///< number of the node, 0 … Topology::nodes - 1, in order of the lowest rank on it
  int local_rank = 0;  ///< number of the rank on its node, in rank order
  int numa = -1;
  int l3 = -1;
  int core = -1;
  int cores_allowed = 0;  ///< processing units that the rank may use
};

/// The machine under a communicator, equal on all ranks.
struct Topology {
  int nodes = 1;
  std::vector<Place> places;            ///< one a rank
  std::vector<int> ranks_per_node;      ///< one a node
  std::vector<int> cores_per_node;      ///< processing units that the ranks of the node may use together
  std::vector<std::string> host_names;  ///< one a node
  bool oversubscribed = false;          ///< some node has more ranks than processing units
};

}  // namespace tutti
