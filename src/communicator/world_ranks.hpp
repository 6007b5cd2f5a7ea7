// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

namespace tutti::detail {

/// The ranks of a communicator's processes in MPI_COMM_WORLD, in rank order. Empty if there is no world, or if one of
/// them is not in it, as after MPI_Comm_spawn. Local.
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm);
/// The ranks of the processes of `part` in `whole`. Empty if one of them is not in it. Local.
[[nodiscard]] std::vector<int> ranks_in(MPI_Comm whole, MPI_Comm part);

}  // namespace tutti::detail
