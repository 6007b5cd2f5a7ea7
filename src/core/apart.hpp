// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

/// Ranks of a node that were started on one processing unit while others are idle: the system moves one of them after
/// some time slices, and until then each waits for the other's.
namespace tutti::detail {

/// The processing units that the calling thread may run on, by the system's numbers, ascending; empty if unknown.
[[nodiscard]] std::vector<int> allowed_units();

/// Whether a lower rank is on the unit of `rank`. `running` has the unit of each rank.
[[nodiscard]] bool is_on_unit_of_a_lower(std::span<const int> running, int rank);

/// The unit that `rank` should move to because a lower rank is on its own: one of `allowed` on which no rank is.
/// Nothing if it should stay. Ranks that move from one unit take units of their own.
[[nodiscard]] std::optional<int> free_unit(std::span<const int> running, int rank, std::span<const int> allowed);

/// Moves the calling thread to a unit at once. What it may run on stays as it is.
void move_to_unit(int unit) noexcept;

}  // namespace tutti::detail
