// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "calls.hpp"
#include "player.hpp"

namespace tutti::scale {

/// Makes the call by the simulated MPI's own collective, of the algorithm that the chosen selector takes.
void call_mpi(const Call& call, int ranks, const Buffers& buffers);

}  // namespace tutti::scale
