// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/context.hpp"

namespace tutti::detail {

/// Makes a communicator of the ranks of each of several nodes, which this communicator alone uses for phases on a node,
/// and agrees on the memory that they share. Makes none if the ranks of one node share no memory. Collective; all ranks
/// are inside a factory, because it blocks inside the host MPI.
void make_node_part(Context& context);

/// Measures the costs of calls on each node, and takes those of the slowest one for predictions. Collective.
void calibrate_node_parts(Context& context);

}  // namespace tutti::detail
