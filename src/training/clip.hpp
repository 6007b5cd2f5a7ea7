// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/communicator.hpp>
#include <tutti/gradient_reducer.hpp>

#include "training/hooks/partition.hpp"

namespace tutti::training {

/// The 2-norm of all gradients that were used: each rank takes its part of each bucket, and all add the parts' squares
/// in one order. The same bits on all ranks, and whether gradients are replicated or sharded. Collective, blocking.
[[nodiscard]] double global_norm(const GradientReducer& reducer, const Communicator& comm, const Partition& partition);

/// Multiplies this rank's parts.
void scale_parts(const GradientReducer& reducer, const Partition& partition, int rank, double factor);

}  // namespace tutti::training
