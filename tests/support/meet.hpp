// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <thread>

namespace tutti::test {

/// Ranks of the whole world meet, by the host MPI alone, and leave together: so that none finalizes while another still
/// waits for its timeout.
inline void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; std::this_thread::yield()) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

}  // namespace tutti::test
