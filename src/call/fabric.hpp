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
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// The number of distances that were measured.
[[nodiscard]] std::size_t distances_of(const Fabric& fabric);

/// Slowdown of each pattern of messages on this many nodes: factors of the latency and of the bytes, relative to the
/// farthest latency and the best rate. Distances that were not measured count as the last one; 1 if none was.
[[nodiscard]] std::array<schedules::Factors, schedules::flows> factors_by_flow(const Fabric& fabric, int nodes);

}  // namespace tutti::detail
