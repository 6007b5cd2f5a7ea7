// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/question.hpp"

namespace tutti::tools {

/// The surroundings of this job, if it has several ranks and the question names no ranks or nodes; else those of an
/// imagined job on nodes like this one. Ranks share memory as in this job, or as `no_shm` and `no_single_copy` say. The
/// table is that of `--table`, else the one that a communicator would find. Throws UsageError for impossible numbers,
/// and Error for an unusable table. Collective over MPI_COMM_WORLD.
[[nodiscard]] Surroundings surroundings_of(const Question& question);

}  // namespace tutti::tools
