// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>
#include <string>

namespace tutti::process_group {

/// Throws unless MPI runs at MPI_THREAD_MULTIPLE, because the groups' threads and the program's call it at once.
void check_threads();

/// Throws unless PyTorch's rank and number of processes are those of MPI_COMM_WORLD.
void check_world(int rank, int size);

/// A communicator of some ranks of another, which the destructor frees. Collective over these ranks only.
class Subgroup {
 public:
  /// `name` tells groups apart that several threads or ranks make at once.
  Subgroup(MPI_Comm parent, std::span<const int> ranks, const std::string& name);
  ~Subgroup();
  Subgroup(const Subgroup&) = delete;
  Subgroup& operator=(const Subgroup&) = delete;
  /// MPI_COMM_NULL on ranks that have no part in it.
  [[nodiscard]] MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

}  // namespace tutti::process_group
