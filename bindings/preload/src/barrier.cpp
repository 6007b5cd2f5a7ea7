// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/barrier.hpp>

#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Barrier {
  void hold() {}
  void read() {}
  void write() {}
  void run(const tutti::Communicator& comm) const { tutti::barrier(comm); }
  [[nodiscard]] tutti::Request start(const tutti::Communicator& comm) const { return tutti::ibarrier(comm); }
  [[nodiscard]] tutti::Request prepare(const tutti::Communicator& comm) const { return tutti::barrier_init(comm); }
};

Reason take(Barrier& /*call*/, const Member& /*member*/) { return Reason::none; }

}  // namespace

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  return run_blocking<Barrier>(Collective::barrier, comm, take, [&] { return PMPI_Barrier(comm); });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return make_operation<Barrier>(Collective::barrier, false, comm, request, take,
                                 [&] { return PMPI_Ibarrier(comm, request); });
}

#if MPI_VERSION >= 4
int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make_operation<Barrier>(Collective::barrier, true, comm, request, take,
                                 [&] { return PMPI_Barrier_init(comm, info, request); });
}
#endif
}
