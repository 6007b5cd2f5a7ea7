// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

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

}  // namespace tutti::detail
