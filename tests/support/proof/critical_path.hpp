// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "schedules/registry.hpp"
#include "support/proof/matching.hpp"

namespace tutti::schedules {

/// What the schedules of all ranks cost together, with one element as the unit of bytes: for each figure of Cost, its
/// sum along the chain of rounds for which that sum is largest. A round waits for the one before on its own rank, and
/// each of its messages for the slower of the rounds at its two ends. Throws Fault where the schedules cannot end.
[[nodiscard]] Cost critical_path(const std::vector<Schedule>& schedules, const Matching& matching);

/// What the busiest rank does, waiting left aside: the most of each figure over all ranks.
[[nodiscard]] Cost busiest_rank(const std::vector<Schedule>& schedules);

}  // namespace tutti::schedules
