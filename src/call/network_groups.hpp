// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "call/fabric.hpp"

/// What the groups of nodes (Topology::network_groups) mean for messages between them.
namespace tutti::detail {

using NetworkLevels = std::vector<std::vector<int>>;

/// The levels at which two nodes are in different groups, from the smallest groups on: 0 within one of these.
[[nodiscard]] std::size_t groups_apart(const NetworkLevels& groups, std::size_t a, std::size_t b);

/// The messages of one level's groups while each node sends one, in messages of nodes.
struct GroupLoad {
  double leaving = 0;  ///< a group, to all others together; the most of any
  double between = 0;  ///< two groups that lie in one larger group, one way; the most of any two
  friend bool operator==(const GroupLoad&, const GroupLoad&) = default;
};

/// While each node sends to the one with that number, or to none if there is no such number. A load for each level, the
/// smallest groups first.
[[nodiscard]] std::vector<GroupLoad> loads_of(const NetworkLevels& groups, std::span<const std::size_t> partners);
/// While each node sends as much to every other one.
[[nodiscard]] std::vector<GroupLoad> loads_everywhere(const NetworkLevels& groups);

/// The fabric of nodes in these groups, in the order of the groups' lists. What was measured at the distances of one
/// order of nodes stays as it is if nothing was measured by group, or no groups are known.
[[nodiscard]] Fabric in_order(const Fabric& measured, const NetworkLevels& groups);

}  // namespace tutti::detail
