// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "simulation/machine.hpp"

namespace tutti::simulation {

/// Asks the planner of each rank of a random machine about random calls, and compares the answers; the schedules of all
/// ranks must fit together. Returns what is wrong, or "". spoils: one rank sees another machine.
[[nodiscard]] std::string check_decisions(std::uint64_t seed, bool spoils);

}  // namespace tutti::simulation
