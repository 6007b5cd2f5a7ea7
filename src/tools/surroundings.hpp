// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/question.hpp"

namespace tutti::tools {

/// Of the job where the question names no ranks and nodes and there are several ranks; else of an imagined one on
/// nodes like this. Ranks share memory as in this job, or by `no_shm` and `no_single_copy`. The table is that of
/// `--table`, else the one that a communicator would find. Throws UsageError for impossible numbers and Error for a
/// table that cannot be used. Collective over MPI_COMM_WORLD.
[[nodiscard]] Surroundings surroundings_of(const Question& question);

}  // namespace tutti::tools
