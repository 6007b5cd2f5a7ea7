// SPDX-License-Identifier: BSD-3-Clause
// The begin and end of MPI, and the procedures of Open MPI's interfaces of Fortran that make and free communicators and
// free operations, as in ../factories.cpp and ../lifetime.cpp.
#include <mpi.h>

#include "host.hpp"
#include "open_mpi/procedures.hpp"

#ifdef OPEN_MPI

namespace tutti::preload {
namespace {

int init() { return MPI_Init(nullptr, nullptr); }
int init_thread(int required, int* provided) { return MPI_Init_thread(nullptr, nullptr, required, provided); }

int merge(MPI_Comm inter, Logicals& high, MPI_Comm* made) { return MPI_Intercomm_merge(inter, high.value(), made); }
int cart_create(MPI_Comm comm, int dims, const int* sizes, Logicals& periods, Logicals& reorder, MPI_Comm* made) {
  return MPI_Cart_create(comm, dims, sizes, periods.first(dims), reorder.value(), made);
}
int cart_sub(MPI_Comm comm, Logicals& remain, MPI_Comm* made) {
  int dims = 0;
  const int code = PMPI_Cartdim_get(comm, &dims);
  return code == MPI_SUCCESS ? MPI_Cart_sub(comm, remain.first(dims), made) : code;
}
int graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, Logicals& reorder, MPI_Comm* made) {
  return MPI_Graph_create(comm, nodes, index, edges, reorder.value(), made);
}
int dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees, const int* destinations,
                      Weights& weights, MPI_Info info, Logicals& reorder, MPI_Comm* made) {
  return MPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights.get(), info, reorder.value(), made);
}
int adjacent_create(MPI_Comm comm, int indegree, const int* sources, Weights& source_weights, int outdegree,
                    const int* destinations, Weights& destination_weights, MPI_Info info, Logicals& reorder,
                    MPI_Comm* made) {
  return MPI_Dist_graph_create_adjacent(comm, indegree, sources, source_weights.get(), outdegree, destinations,
                                        destination_weights.get(), info, reorder.value(), made);
}

}  // namespace

}  // namespace tutti::preload

using namespace tutti::preload;

TUTTI_MPI_FORTRAN(0, init, init)
TUTTI_MPI_FORTRAN(2, init_thread, init_thread)
TUTTI_MPI_FORTRAN(0, finalize, MPI_Finalize)
TUTTI_MPI_FORTRAN(2, comm_dup, MPI_Comm_dup)
TUTTI_MPI_FORTRAN(3, comm_dup_with_info, MPI_Comm_dup_with_info)
TUTTI_MPI_FORTRAN(3, comm_idup, MPI_Comm_idup)
#if TUTTI_MPI_HAS_SESSIONS
TUTTI_MPI_FORTRAN(4, comm_idup_with_info, MPI_Comm_idup_with_info)
#endif
TUTTI_MPI_FORTRAN(4, comm_split, MPI_Comm_split)
TUTTI_MPI_FORTRAN(5, comm_split_type, MPI_Comm_split_type)
TUTTI_MPI_FORTRAN(3, comm_create, MPI_Comm_create)
TUTTI_MPI_FORTRAN(4, comm_create_group, MPI_Comm_create_group)
TUTTI_MPI_FORTRAN_LOGICAL(3, intercomm_merge, merge)
TUTTI_MPI_FORTRAN_LOGICAL(6, cart_create, cart_create)
TUTTI_MPI_FORTRAN_LOGICAL(3, cart_sub, cart_sub)
TUTTI_MPI_FORTRAN_LOGICAL(6, graph_create, graph_create)
TUTTI_MPI_FORTRAN_LOGICAL(9, dist_graph_create, dist_graph_create)
TUTTI_MPI_FORTRAN_LOGICAL(10, dist_graph_create_adjacent, adjacent_create)
TUTTI_MPI_FORTRAN(1, comm_free, MPI_Comm_free)
TUTTI_MPI_FORTRAN(1, comm_disconnect, MPI_Comm_disconnect)
TUTTI_MPI_FORTRAN(1, op_free, MPI_Op_free)
TUTTI_MPI_FORTRAN(1, type_free, MPI_Type_free)

#endif
