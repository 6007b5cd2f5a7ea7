// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace tutti::test {

/// A number of each rank, zero at first, that all ranks of the world see without a call of MPI: they are on one node.
/// Making and ending it is collective.
class SharedNumbers {
 public:
  SharedNumbers() {
    void* mine = nullptr;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&mine),
                            &window_);
    *static_cast<int*>(mine) = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedNumbers() { MPI_Win_free(&window_); }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;
  [[nodiscard]] int& of(int rank) const {
    MPI_Aint size = 0;
    int unit = 0;
    void* address = nullptr;
    MPI_Win_shared_query(window_, rank, &size, &unit, static_cast<void*>(&address));
    return *static_cast<int*>(address);
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace tutti::test
