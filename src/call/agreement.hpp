// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <vector>

#include "call/context.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

/// Gives every rank the values of all ranks, so that all ranks make the same decision. Collective, blocking.
template <typename T>
std::vector<T> all_gather(const Context& comm, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(comm.size));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.collective, &request),
            "MPI_Iallgather");
  wait_yielding(request, "MPI_Iallgather");
  return all;
}

}  // namespace tutti::detail
