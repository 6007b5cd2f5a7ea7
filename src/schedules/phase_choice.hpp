// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "schedules/registry.hpp"

namespace tutti::schedules {

/// Restricts the choice to algorithms that keep rank order.
enum class KeepOrder : bool { no, yes };

/// One level, as a choice needs it: see Starts.
struct Pace {
  double start = 0;
  double several = 1;
  double shared = std::numeric_limits<double>::infinity();
};
[[nodiscard]] inline Pace pace_on_node(const Starts& starts) { return {starts.on_node, starts.several, starts.shared}; }
[[nodiscard]] inline Pace pace_across(const Starts& starts) { return {.start = starts.across}; }

/// The flat algorithm for a phase of a hierarchical one among `size` ranks, with `bytes` as in Algorithm::cost: the one
/// with the least rounds, messages and bytes at this pace. A function of facts that all ranks share, as a schedule and
/// its cost both need it.
[[nodiscard]] const Algorithm& flat_for(Operation operation, int size, double bytes, const Pace& pace,
                                        KeepOrder keep = KeepOrder::no);

/// The ranks, in the mean of its rounds, that send as much at once as the busiest one.
[[nodiscard]] double senders_of(const Algorithm& algorithm, int size, double bytes);

/// Whether each rank sends and receives in the same rounds of a flat algorithm.
[[nodiscard]] bool goes_both_ways(const Algorithm& algorithm);

}  // namespace tutti::schedules
