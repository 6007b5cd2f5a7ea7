// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/barrier.hpp>

#include "forms.hpp"

namespace {

using namespace tutti::preload;

/// After a barrier of the MPI, a program sees what its peers have done before: MPI_Win_test of MPICH looks without
/// driving anything. A barrier over shared memory does not drive the MPI by itself.
struct Barrier {
  MPI_Comm comm = MPI_COMM_NULL;

  void hold() {}
  void read() {}
  void write() {}
  void run(const tutti::Communicator& ours) const {
    tutti::barrier(ours);
    int flag = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
  }
  [[nodiscard]] tutti::Request start(const tutti::Communicator& ours) const { return tutti::ibarrier(ours); }
  [[nodiscard]] tutti::Request prepare(const tutti::Communicator& ours) const { return tutti::barrier_init(ours); }
};

auto take_of(MPI_Comm comm) {
  return [comm](Barrier& call, const Member& /*member*/) {
    call.comm = comm;
    return Reason::none;
  };
}

Description describe(const Ranks& /*ranks*/) { return {}; }

}  // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  return run_blocking<Barrier>(Collective::barrier, comm, take_of(comm), describe, [&] { return PMPI_Barrier(comm); });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return make_operation<Barrier>(Collective::barrier, false, comm, request, take_of(comm), describe,
                                 [&] { return PMPI_Ibarrier(comm, request); });
}

#if TUTTI_MPI_HAS_PERSISTENT
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make_operation<Barrier>(Collective::barrier, true, comm, request, take_of(comm), describe,
                                 [&] { return PMPI_Barrier_init(comm, info, request); });
}
#endif
}
