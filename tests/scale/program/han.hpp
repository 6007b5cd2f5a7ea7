// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "calls.hpp"
#include "machine.hpp"
#include "player.hpp"

namespace tutti::scale {

/// A collective as HAN composes it, the component of Open MPI 5 for several nodes: stages in turn on a node and among
/// the first ranks of nodes, over segments of the vector; in a step each stage works on a segment, and the next step
/// begins when all have ended. Source: Luo et al., HAN: a hierarchical autotuned collective communication framework,
/// CLUSTER 2020.
///
/// The way is "han:SEGMENT:ALGORITHM,...": bytes of a segment, 0 for all in one, and a schedule for each stage.
[[nodiscard]] bool is_han(const Call& call);

/// The steps of a rank, each of parts to play together. `between` is memory for what goes from stage to stage: as many
/// elements as the longer of the rank's input and output of all ranks of its node. Throws std::runtime_error for an
/// operation or a way that is none.
[[nodiscard]] std::vector<std::vector<Part>> han_steps(const Call& call, const Machine& machine, int rank,
                                                       const Buffers& buffers, float* between);

}  // namespace tutti::scale
