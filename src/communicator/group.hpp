// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "core/mpi_call.hpp"

namespace tutti::detail {

/// The group of a communicator, freed at the end.
class Group {
 public:
  explicit Group(MPI_Comm comm) { check_mpi(MPI_Comm_group(comm, &group_), "MPI_Comm_group"); }
  ~Group() { MPI_Group_free(&group_); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  [[nodiscard]] MPI_Group get() const { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// The ranks of a communicator's processes in MPI_COMM_WORLD, in rank order. Empty if there is no world, or if one of
/// them is not in it, as after MPI_Comm_spawn. Local.
[[nodiscard]] std::vector<int> world_ranks(MPI_Comm comm);
/// The ranks of the processes of `part` in `whole`. Empty if one of them is not in it. Local.
[[nodiscard]] std::vector<int> ranks_in(MPI_Comm whole, MPI_Comm part);

}  // namespace tutti::detail
