// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/arena.hpp"
#include "call/costs.hpp"

namespace tutti::detail::shm {

/// The lengths of the pieces by which the copies through a slot and through a ring are measured, in bytes: that of the
/// chunks of `slots`, and one within a core's caches.
inline constexpr std::size_t short_piece = 4096;
inline constexpr std::size_t long_piece = std::size_t{64} << 10U;

/// Measures the costs of loads, stores and kernel copies between this rank and the rank half the ranks away, all pairs
/// at the same time; for a check only lines, whose time tells how far apart the cores are. A rank without a partner
/// measures nothing and keeps `costs`. The arena must be unused so far. Collective over its ranks; takes a few
/// milliseconds; yields while it waits.
void calibrate(Arena& arena, Costs& costs, Calibration kind);

}  // namespace tutti::detail::shm
