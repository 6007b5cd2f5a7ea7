// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <tutti/operation.hpp>
#include <vector>

#include "simulation/caches.hpp"
#include "simulation/prices.hpp"

namespace tutti::simulation {

/// A collective call of all ranks of a node, which repeats.
struct NodeCall {
  Operation operation = Operation::allreduce;  ///< barrier, bcast, reduce or allreduce; the root is rank 0
  std::size_t bytes = 8;                       ///< of float64; 0 for a barrier
  std::string way{};                           ///< "tutti", "tutti:shm:tree", or a peer of peers.hpp: "xhc"
  int fanout = 0;                              ///< of the library's groups; 0: its own
  bool back_to_back = false;  ///< a rank begins its next call at once, and not together with all others
};

/// What it takes, as a mean of several calls.
struct NodeTime {
  std::string way{};  ///< as it was made: the planner's choice
  double nanoseconds = 0;
  std::array<double, distances> lines{};  ///< that have moved, by distance
  std::array<double, distances> taken{};  ///< that stores have taken from other cores
};

/// Plays the call on the first cores of a machine. Throws std::runtime_error if a result is wrong or the call cannot be
/// made.
[[nodiscard]] NodeTime time_of(const NodeCall& call, const Prices& prices, int ranks);

}  // namespace tutti::simulation
