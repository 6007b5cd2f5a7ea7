// SPDX-License-Identifier: BSD-3-Clause
#include "selector.hpp"

#include <mpi.h>

#include <stdexcept>

namespace tutti::scale {

void call_mpi(const Call& call, int ranks, const Buffers& buffers) {
  const int n = static_cast<int>(count_of(call, ranks));
  const float* in = buffers.input;
  float* out = buffers.output;
  const auto world = MPI_COMM_WORLD;
  switch (call.operation) {
    using enum schedules::Operation;
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
    default:
      throw std::runtime_error("the study has no calls with a count for each rank");
  }
}

}  // namespace tutti::scale
