// SPDX-License-Identifier: BSD-3-Clause
#include "selector.hpp"

#include <mpi.h>

#include <stdexcept>
#include <vector>

namespace tutti::scale {
namespace {

void alltoallv_of_equal_blocks(const float* in, float* out, int n, int ranks) {
  const std::vector<int> counts(static_cast<std::size_t>(ranks), n);
  std::vector<int> displacements(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) displacements[i] = static_cast<int>(i) * n;
  MPI_Alltoallv(in, counts.data(), displacements.data(), MPI_FLOAT, out, counts.data(), displacements.data(), MPI_FLOAT,
                MPI_COMM_WORLD);
}

}  // namespace

void call_mpi(const Call& call, int ranks, const Buffers& buffers) {
  const int n = static_cast<int>(count_of(call, ranks));
  const float* in = buffers.input;
  float* out = buffers.output;
  const auto world = MPI_COMM_WORLD;
  switch (call.operation) {
    using enum Operation;
    case barrier:
      MPI_Barrier(world);
      return;
    case bcast:
      MPI_Bcast(out, n, MPI_FLOAT, 0, world);
      return;
    case reduce:
      MPI_Reduce(in, out, n, MPI_FLOAT, MPI_SUM, 0, world);
      return;
    case allreduce:
      MPI_Allreduce(in, out, n, MPI_FLOAT, MPI_SUM, world);
      return;
    case reduce_scatter_block:
      MPI_Reduce_scatter_block(in, out, n, MPI_FLOAT, MPI_SUM, world);
      return;
    case scan:
      MPI_Scan(in, out, n, MPI_FLOAT, MPI_SUM, world);
      return;
    case exscan:
      MPI_Exscan(in, out, n, MPI_FLOAT, MPI_SUM, world);
      return;
    case gather:
      MPI_Gather(in, n, MPI_FLOAT, out, n, MPI_FLOAT, 0, world);
      return;
    case scatter:
      MPI_Scatter(in, n, MPI_FLOAT, out, n, MPI_FLOAT, 0, world);
      return;
    case allgather:
      MPI_Allgather(in, n, MPI_FLOAT, out, n, MPI_FLOAT, world);
      return;
    case alltoall:
      MPI_Alltoall(in, n, MPI_FLOAT, out, n, MPI_FLOAT, world);
      return;
    case alltoallv:
      alltoallv_of_equal_blocks(in, out, n, ranks);
      return;
    default:
      throw std::runtime_error("the study has no such call");
  }
}

}  // namespace tutti::scale
