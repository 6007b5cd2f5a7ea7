// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {

/// Finds for each call how long it waited for another rank, and for which call of that rank. The parts are aligned.
///
/// A collective waits for the last rank that came before the call let its own rank go; so the leaf of a broadcast waits
/// for its root, and never for another leaf that comes later. Only collectives that all ranks of the communicator have
/// recorded count, and none of neighbors. If a program waits for several requests at a time, the waits are put one
/// behind the other, in the order of their ends. A receive waits for a send that begins late, and a send for a receive
/// that does; messages are matched as MPI orders them.
void find_waits(std::vector<Part>& parts);

}  // namespace tutti::detail::trace
