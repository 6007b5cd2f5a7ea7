// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/topology.hpp>
#include <vector>

namespace tutti::detail::tuning {

/// The machine for which measurements hold, regardless of host names.
struct Key {
  int ranks = 1;
  std::vector<int> ranks_per_node{};
  std::vector<int> cores_per_node{};
  std::string cpu{};  ///< processor model of rank 0
  std::string mpi{};  ///< the host MPI and its version

  friend bool operator==(const Key&, const Key&) = default;
};

/// The key of the machine under a communicator. Local; asks hwloc the first time.
[[nodiscard]] Key key_of(const Topology& topology);

/// The difference between a key and the key of this machine, as "processor 'A', here 'B'"; empty if there is none.
[[nodiscard]] std::string difference(const Key& key, const Key& here);

}  // namespace tutti::detail::tuning
