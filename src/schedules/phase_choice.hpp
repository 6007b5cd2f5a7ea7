// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/registry.hpp"

namespace tutti::schedules {

/// Restricts the choice to algorithms that keep rank order.
enum class KeepOrder : bool { no, yes };

/// The flat algorithm for a phase of a hierarchical one among `size` ranks, with `bytes` as in Algorithm::cost: the one
/// with the least rounds, messages and bytes, where the start of a round costs as much as `start` bytes (Starts). A
/// function of facts that all ranks share, as a schedule and its cost both need it.
[[nodiscard]] const Algorithm& flat_for(Operation operation, int size, double bytes, double start,
                                        KeepOrder keep = KeepOrder::no);

/// Whether each rank sends and receives in the same rounds of a flat algorithm.
[[nodiscard]] bool goes_both_ways(const Algorithm& algorithm);

}  // namespace tutti::schedules
