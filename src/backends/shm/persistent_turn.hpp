// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "call/backend.hpp"

namespace tutti::detail::shm {

/// Takes the cells of a persistent call; an invalid turn, on all ranks, if none are left. Collective. Ranks ask one
/// another only once every cell has been given: as a blocking call does, with its timeout (0: none). digest: of the
/// call.
[[nodiscard]] Turn take_persistent_turn(Context& context, std::uint64_t digest, std::chrono::nanoseconds timeout);

}  // namespace tutti::detail::shm
