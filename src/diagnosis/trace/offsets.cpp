// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/world.hpp"

#include <algorithm>

#include "core/mpi_call.hpp"
#include "diagnosis/ticks.hpp"

namespace tutti::detail::trace {
namespace {

constexpr int rounds = 50;
constexpr int tag_of_clocks = 0;

void answer(MPI_Comm comm, int other) {
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t now = 0;
    check_mpi(MPI_Recv(&now, 1, MPI_UINT64_T, other, tag_of_clocks, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    now = flight::ticks();
    check_mpi(MPI_Send(&now, 1, MPI_UINT64_T, other, tag_of_clocks, comm), "MPI_Send");
  }
}

}  // namespace

bool is_first_of_machine(std::span<const std::uint64_t> machines, int rank) {
  const auto own = machines.begin() + rank;
  return std::find(machines.begin(), own, *own) == own && rank != 0;
}

OffsetRecord measure_offset(MPI_Comm comm, int other) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  OffsetRecord best;
  if (rank == 0) {
    answer(comm, other);
    return best;
  }
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t there = 0;
    const std::uint64_t begin = flight::ticks();
    check_mpi(MPI_Send(&begin, 1, MPI_UINT64_T, 0, tag_of_clocks, comm), "MPI_Send");
    check_mpi(MPI_Recv(&there, 1, MPI_UINT64_T, 0, tag_of_clocks, comm, MPI_STATUS_IGNORE), "MPI_Recv");
    const std::uint64_t trip = flight::ticks() - begin;
    if (round != 0 && trip >= best.round_trip) continue;
    best.own = begin + trip / 2;
    best.other = there;
    best.round_trip = trip;
  }
  return best;
}

}  // namespace tutti::detail::trace
