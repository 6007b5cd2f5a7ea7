// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/communicator.hpp>
#include <tutti/gradient_reducer.hpp>

#include "training/hooks/partition.hpp"

namespace tutti::training {

/// The 2-norm of all gradients that were used. Each rank squares its part of each bucket, and all ranks add the parts
/// in the same order: so all get the same bits, whether gradients are replicated or sharded. Collective; blocking.
[[nodiscard]] double global_norm(const GradientReducer& reducer, const Communicator& comm, const Partition& partition);

/// Multiplies this rank's parts by `factor`.
void scale_parts(const GradientReducer& reducer, const Partition& partition, int rank, double factor);

}  // namespace tutti::training
