// SPDX-License-Identifier: BSD-3-Clause
// The collectives of Open MPI's interfaces of Fortran, which call PMPI_ functions, past those of this library.
#include <mpi.h>

#include "host.hpp"
#include "member.hpp"
#include "open_mpi/procedures.hpp"

#ifdef OPEN_MPI

namespace tutti::preload {
namespace {

using Types = Handles<MPI_Datatype>;

/// How many datatypes the sides of an alltoallw have.
struct Numbers {
  int sent = 0;
  int received = 0;
};
Numbers ranks_of(MPI_Comm comm, const void* send) {
  int inter = 0;
  int size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0)
    PMPI_Comm_remote_size(comm, &size);
  else
    PMPI_Comm_size(comm, &size);
  return {send == MPI_IN_PLACE ? 0 : size, size};
}
Numbers neighbors_in(MPI_Comm comm, const void* /*send*/) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  const auto neighbors = neighbors_of(comm, rank);
  if (!neighbors) return {};
  return {static_cast<int>(neighbors->destinations.size()), static_cast<int>(neighbors->sources.size())};
}

/// An alltoallw with as many datatypes as numbers() says.
template <auto function, auto numbers>
struct WithTypes;
template <typename D, typename... Rest,
          int (*function)(const void*, const int*, const D*, const MPI_Datatype*, void*, const int*, const D*,
                          const MPI_Datatype*, MPI_Comm, Rest...),
          auto numbers>
struct WithTypes<function, numbers> {
  static int call(const void* send, const int* sent, const D* sent_displs, Types& sent_types, void* recv,
                  const int* received, const D* received_displs, Types& received_types, MPI_Comm comm, Rest... rest) {
    const Numbers n = numbers(comm, send);
    return function(send, sent, sent_displs, sent_types.first(n.sent), recv, received, received_displs,
                    received_types.first(n.received), comm, rest...);
  }
};
template <auto function>
constexpr auto with_types = WithTypes<function, ranks_of>::call;
template <auto function>
constexpr auto with_types_of_neighbors = WithTypes<function, neighbors_in>::call;

template <auto function>
constexpr auto plain = function;

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

/// The forms of a collective; N, N1, N2: the numbers of their arguments. function: plain, or what finds the datatypes.
#define TUTTI_MPI_FORTRAN_FORMS(N, N1, N2, Name, lower, function) \
  TUTTI_MPI_FORTRAN(N, lower, function<MPI_##Name>)               \
  TUTTI_MPI_FORTRAN(N1, i##lower, function<MPI_I##lower>)         \
  TUTTI_MPI_FORTRAN_PERSISTENT(N2, Name, lower, function)
#if TUTTI_MPI_HAS_PERSISTENT
#define TUTTI_MPI_FORTRAN_PERSISTENT(N, Name, lower, function) \
  TUTTI_MPI_FORTRAN(N, lower##_init, function<MPI_##Name##_init>)
#else
#define TUTTI_MPI_FORTRAN_PERSISTENT(N, Name, lower, function)
#endif

TUTTI_MPI_FORTRAN_FORMS(1, 2, 3, Barrier, barrier, plain)
TUTTI_MPI_FORTRAN_FORMS(5, 6, 7, Bcast, bcast, plain)
TUTTI_MPI_FORTRAN_FORMS(8, 9, 10, Gather, gather, plain)
TUTTI_MPI_FORTRAN_FORMS(9, 10, 11, Gatherv, gatherv, plain)
TUTTI_MPI_FORTRAN_FORMS(8, 9, 10, Scatter, scatter, plain)
TUTTI_MPI_FORTRAN_FORMS(9, 10, 11, Scatterv, scatterv, plain)
TUTTI_MPI_FORTRAN_FORMS(7, 8, 9, Allgather, allgather, plain)
TUTTI_MPI_FORTRAN_FORMS(8, 9, 10, Allgatherv, allgatherv, plain)
TUTTI_MPI_FORTRAN_FORMS(7, 8, 9, Alltoall, alltoall, plain)
TUTTI_MPI_FORTRAN_FORMS(9, 10, 11, Alltoallv, alltoallv, plain)
TUTTI_MPI_FORTRAN_FORMS(9, 10, 11, Alltoallw, alltoallw, with_types)
TUTTI_MPI_FORTRAN_FORMS(7, 8, 9, Reduce, reduce, plain)
TUTTI_MPI_FORTRAN_FORMS(6, 7, 8, Allreduce, allreduce, plain)
TUTTI_MPI_FORTRAN_FORMS(6, 7, 8, Reduce_scatter_block, reduce_scatter_block, plain)
TUTTI_MPI_FORTRAN_FORMS(6, 7, 8, Reduce_scatter, reduce_scatter, plain)
TUTTI_MPI_FORTRAN_FORMS(6, 7, 8, Scan, scan, plain)
TUTTI_MPI_FORTRAN_FORMS(6, 7, 8, Exscan, exscan, plain)
TUTTI_MPI_FORTRAN_FORMS(7, 8, 9, Neighbor_allgather, neighbor_allgather, plain)
TUTTI_MPI_FORTRAN_FORMS(8, 9, 10, Neighbor_allgatherv, neighbor_allgatherv, plain)
TUTTI_MPI_FORTRAN_FORMS(7, 8, 9, Neighbor_alltoall, neighbor_alltoall, plain)
TUTTI_MPI_FORTRAN_FORMS(9, 10, 11, Neighbor_alltoallv, neighbor_alltoallv, plain)
TUTTI_MPI_FORTRAN_FORMS(9, 10, 11, Neighbor_alltoallw, neighbor_alltoallw, with_types_of_neighbors)

#endif
