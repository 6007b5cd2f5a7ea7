// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives are the MPI's, and counted as such.
#include <mpi.h>

#include "member.hpp"
#include "report.hpp"

namespace tutti::preload {
namespace {

void note(MPI_Comm comm) {
  const std::shared_ptr<Member>* const member = member_of(comm);
  if (member == nullptr) return;
  const Reason reason = (*member)->reason();
  count(Collective::neighbor, reason == Reason::none ? Reason::neighborhood : reason);
}

}  // namespace
}  // namespace tutti::preload

#define TUTTI_MPI_NEIGHBOR_FORM(lower, Suffix, N, D, PARAMS, ARGS)                       \
  int MPI_Neighbor_##lower##Suffix(PARAMS(N, D), MPI_Comm comm) {                        \
    tutti::preload::note(comm);                                                          \
    return PMPI_Neighbor_##lower##Suffix(ARGS(), comm);                                  \
  }                                                                                      \
  int MPI_Ineighbor_##lower##Suffix(PARAMS(N, D), MPI_Comm comm, MPI_Request* request) { \
    tutti::preload::note(comm);                                                          \
    return PMPI_Ineighbor_##lower##Suffix(ARGS(), comm, request);                        \
  }
#define TUTTI_MPI_NEIGHBOR_INIT(lower, Suffix, N, D, PARAMS, ARGS)                                            \
  int MPI_Neighbor_##lower##_init##Suffix(PARAMS(N, D), MPI_Comm comm, MPI_Info info, MPI_Request* request) { \
    tutti::preload::note(comm);                                                                               \
    return PMPI_Neighbor_##lower##_init##Suffix(ARGS(), comm, info, request);                                 \
  }
#if MPI_VERSION >= 4
#define TUTTI_MPI_NEIGHBOR(lower, PARAMS, ARGS)                         \
  TUTTI_MPI_NEIGHBOR_FORM(lower, , int, int, PARAMS, ARGS)              \
  TUTTI_MPI_NEIGHBOR_INIT(lower, , int, int, PARAMS, ARGS)              \
  TUTTI_MPI_NEIGHBOR_FORM(lower, _c, MPI_Count, MPI_Aint, PARAMS, ARGS) \
  TUTTI_MPI_NEIGHBOR_INIT(lower, _c, MPI_Count, MPI_Aint, PARAMS, ARGS)
#else
#define TUTTI_MPI_NEIGHBOR(lower, PARAMS, ARGS) TUTTI_MPI_NEIGHBOR_FORM(lower, , int, int, PARAMS, ARGS)
#endif

extern "C" {

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_NEIGHBOR(allgather, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                              \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, const N received[], const D displs[], \
      MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, displs, received_type
TUTTI_MPI_NEIGHBOR(allgatherv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D) \
  const void *send, N sent, MPI_Datatype sent_type, void *recv, N received, MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_type, recv, received, received_type
TUTTI_MPI_NEIGHBOR(alltoall, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                                           \
  const void *send, const N sent[], const D sent_displs[], MPI_Datatype sent_type, void *recv, const N received[], \
      const D received_displs[], MPI_Datatype received_type
#define ARGUMENTS() send, sent, sent_displs, sent_type, recv, received, received_displs, received_type
TUTTI_MPI_NEIGHBOR(alltoallv, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS

#define PARAMETERS(N, D)                                                                                       \
  const void *send, const N sent[], const MPI_Aint sent_displs[], const MPI_Datatype sent_types[], void *recv, \
      const N received[], const MPI_Aint received_displs[], const MPI_Datatype received_types[]
#define ARGUMENTS() send, sent, sent_displs, sent_types, recv, received, received_displs, received_types
TUTTI_MPI_NEIGHBOR(alltoallw, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
}
