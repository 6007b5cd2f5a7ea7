// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "schedules/problem.hpp"

namespace tutti::detail {

/// The network while all nodes use it, by their distances. Its inner links may be narrower than all the messages on
/// them, so that exchanges at some distances are slower; and nearer nodes answer sooner.
struct Fabric {
  /// While each node exchanges with one other, whose number differs in one binary digit.
  struct Distance {
    double latency = 0;  ///< from start to end of an empty message, in seconds
    double rate = 0;     ///< of each node, both ways, in bytes/s
    friend bool operator==(const Distance&, const Distance&) = default;
  };
  static constexpr std::size_t most_distances = 24;
  /// By that digit: at the distances 1, 2, 4, ... Nodes are numbered in the order of their first ranks. Those behind
  /// the last measured one are 0.
  std::array<Distance, most_distances> at{};
  /// The rate of each node that exchanges with others at all distances.
  double everywhere = 0;
  /// Messages between nodes whose groups of the network differ at so many levels, from the smallest groups on.
  struct Group {
    double latency = 0;  ///< as at a distance; 0: not measured
    double between = 0;  ///< rate of all messages between two groups, one way, in bytes/s; 0: as fast as nodes send
    double leaving = 0;  ///< the same of those from one group to all others
    friend bool operator==(const Group&, const Group&) = default;
  };
  static constexpr std::size_t most_groups = 4;
  std::array<Group, most_groups + 1> by_group{};
  double within_group = 0;  ///< the rate of each node while all exchange within the smallest groups; 0: not measured
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// The number of distances that were measured.
[[nodiscard]] std::size_t distances_of(const Fabric& fabric);
/// Whether any figure by group was.
[[nodiscard]] bool is_measured_by_group(const Fabric& fabric);
/// The best rate of a node at any distance, and the latency of the farthest one.
[[nodiscard]] double best_rate(const Fabric& fabric);
[[nodiscard]] double farthest_latency(const Fabric& fabric);

/// Slowdown of each pattern of messages on this many nodes: factors of the latency and of the bytes, relative to the
/// farthest latency and the best rate. Distances that were not measured count as the last one; 1 if none was.
[[nodiscard]] std::array<schedules::Factors, schedules::flows> factors_by_flow(const Fabric& fabric, int nodes);

}  // namespace tutti::detail
