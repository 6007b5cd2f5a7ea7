// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "schedules/blocks.hpp"
#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// The edges of one rank's place in a topology. Several may have the same rank at their other end, or this one. A
/// negative rank is a neighbour that does not exist: there is a block for it, but nothing moves.
struct Neighborhood {
  std::vector<int> sources{};       ///< the rank that block i of the output comes from
  std::vector<int> destinations{};  ///< the rank that block i of the input goes to
  /// The edges are pairs of directions, down and up: what goes down comes from above. In other topologies the k-th edge
  /// to a rank is that rank's k-th edge from this one. Source: MPI 4.1, section 8.6, with its advice to implementors
  /// about periodic dimensions of one or two ranks.
  bool is_grid = false;
};

/// The schedule of a neighborhood collective, which is one round: block i of `from` goes to destination i, block i of
/// `to` comes from source i. Each end of an edge needs nothing but what it knows of its own edges.
[[nodiscard]] Schedule neighbor_exchange(const Neighborhood& edges, int rank, const Blocks& from, const Blocks& to);

}  // namespace tutti::schedules
