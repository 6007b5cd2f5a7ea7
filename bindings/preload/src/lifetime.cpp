// SPDX-License-Identifier: BSD-3-Clause
// The functions that end what the library's calls rest on.
#include <mpi.h>

#include "member.hpp"
#include "reduction.hpp"
#include "report.hpp"

using namespace tutti::preload;

extern "C" {

int MPI_Comm_free(MPI_Comm* comm) {
  if (comm != nullptr) end_member(*comm);
  return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (comm != nullptr) end_member(*comm);
  return PMPI_Comm_disconnect(comm);
}

#ifdef MPICH_VERSION
/// The MPI refuses calls on a revoked communicator; the library's would wait for ranks that make none any more.
int MPIX_Comm_revoke(MPI_Comm comm) {
  if (const std::shared_ptr<Member>* const member = member_of(comm)) (*member)->pass_on();
  return PMPIX_Comm_revoke(comm);
}
#endif

int MPI_Op_free(MPI_Op* op) { return free_op(op); }

int MPI_Finalize() {
  print_report();
  return PMPI_Finalize();
}
}
