// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "calls.hpp"
#include "schedules/problem.hpp"
#include "schedules/schedule.hpp"

namespace tutti::scale {

/// Schedules that MPICH has and the library has not (mpich5.py), by the way of the call:
///   alltoall              scattered:N   all messages at once, but for N partners at a time
///   alltoall              exchange      one partner a round, the rank's exclusive-or with its number; 2^n ranks
///   reduce_scatter_block  pairwise      each block to its rank, one partner a round
/// None for another way.
[[nodiscard]] std::optional<schedules::Schedule> schedule_of_peer(const Call& call, const schedules::Problem& problem);

}  // namespace tutti::scale
