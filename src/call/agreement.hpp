// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <span>
#include <vector>

#include "call/context.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

/// Gives every rank the values of all ranks, so that all ranks make the same decision. Collective, blocking.
template <typename T>
std::vector<T> all_gather(MPI_Comm comm, std::size_t size, const T& mine) {
  std::vector<T> all(size);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm, &request),
            "MPI_Iallgather");
  wait_yielding(request, "MPI_Iallgather");
  return all;
}
template <typename T>
std::vector<T> all_gather(const Context& comm, const T& mine) {
  return all_gather(comm.point_to_point, static_cast<std::size_t>(comm.size), mine);
}

/// For each fact, whether it holds on all ranks.
template <std::size_t N>
[[nodiscard]] std::array<int, N> all_agree_on(MPI_Comm comm, const std::array<int, N>& mine) {
  std::array<int, N> all{};
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(mine.data(), all.data(), N, MPI_INT, MPI_MIN, comm, &request), "MPI_Iallreduce");
  wait_yielding(request, "MPI_Iallreduce");
  return all;
}

/// Returns true if all ranks say so. Collective, blocking.
[[nodiscard]] inline bool all_agree(MPI_Comm comm, bool mine) { return all_agree_on<1>(comm, {mine ? 1 : 0})[0] != 0; }

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
