// SPDX-License-Identifier: BSD-3-Clause
// The functions of MPI by which the library progresses, by MPI's profiling interface.
#include "mpi/nccl/mpi_calls.hpp"

#include <mpi.h>

#include <atomic>

#include "support/standin/nccl_wire.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::test {
namespace {

std::atomic<int> calls{0};

/// The stand-ins are asked only once they are in place, because making them is collective.
void note(MPI_Comm comm) {
  const auto* runtime = dynamic_cast<standin::Runtime*>(detail::device::runtime());
  if (runtime != nullptr && runtime->forbids_unsafe_calls() && comm != standin::wire()) calls.fetch_add(1);
}

}  // namespace

int mpi_calls_in_captures() { return calls.load(); }

}  // namespace tutti::test

extern "C" {

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  tutti::test::note(comm);
  return PMPI_Iprobe(source, tag, comm, found, status);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  tutti::test::note(comm);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  tutti::test::note(comm);
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}
}
