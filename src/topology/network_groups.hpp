// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "topology/network_source.hpp"

namespace tutti::detail {

/// What a node tells the others of its paths, as plain bytes: a number for each group, which depends on the names of it
/// and of all around it. 0: none. Of a longer path the smallest groups.
struct NetworkMarks {
  static constexpr std::size_t most_levels = 4;
  using Marks = std::array<std::uint64_t, most_levels>;
  std::array<Marks, network_sources> by_source{};
};
[[nodiscard]] NetworkMarks marks_of(const NetworkPaths& paths);

/// The groups of all nodes: those of the first source that every node has, to the depth that every node has.
struct NetworkGroups {
  std::optional<NetworkSource> source{};
  std::vector<std::vector<int>> levels{};  ///< as Topology::network_groups
};
/// A pure function of what all ranks know, so that they agree.
[[nodiscard]] NetworkGroups network_groups(std::span<const NetworkMarks> nodes);

/// The groups of some of the nodes, counted anew.
[[nodiscard]] std::vector<std::vector<int>> groups_of_part(const std::vector<std::vector<int>>& whole,
                                                           std::span<const int> nodes);

}  // namespace tutti::detail
