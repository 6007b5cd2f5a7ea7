// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "call/context.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

/// Gives every rank the values of all ranks, so that all ranks make the same decision. Collective, blocking.
template <typename T>
std::vector<T> all_gather(const Context& comm, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(comm.size));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.point_to_point, &request),
      "MPI_Iallgather");
  wait_yielding(request, "MPI_Iallgather");
  return all;
}

/// Replaces each number by the greatest of all ranks. The host MPI's own, so that a call which agrees on its way cannot
/// call itself. Collective, blocking.
inline void take_greatest(const Context& comm, std::span<double> numbers) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_MAX,
                           comm.point_to_point, &request),
            "MPI_Iallreduce");
  wait_yielding(request, "MPI_Iallreduce");
}

}  // namespace tutti::detail
