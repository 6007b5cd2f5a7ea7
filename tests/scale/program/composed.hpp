// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "calls.hpp"
#include "machine.hpp"
#include "player.hpp"

namespace tutti::scale {

/// A collective that is composed of stages in turn, on nodes and among the first ranks of nodes, as HAN (Open MPI 5)
/// and MPICH compose them for several nodes. Segments of the vector follow one another: in a step each stage works on a
/// segment, and the next step begins when all have ended. Sources: han.py and mpich5.py.
///
/// The way is "composed:SEGMENT:ALGORITHM,...": bytes of a segment, 0 for all in one, and a schedule for each stage,
/// whose number tells two compositions of one operation apart.
[[nodiscard]] bool is_composed(const Call& call);

/// The steps of a rank, each of parts to play together. `between` is memory for what goes from stage to stage: as many
/// elements as the longer of the rank's input and output of all ranks of its node, and one at least. Throws
/// std::runtime_error for an operation or a way that is none.
[[nodiscard]] std::vector<std::vector<Part>> composed_steps(const Call& call, const Machine& machine, int rank,
                                                            const Buffers& buffers, float* between);

}  // namespace tutti::scale
