// SPDX-License-Identifier: BSD-3-Clause
// The begin of MPI and the program's factories of communicators.
#include <mpi.h>

#include "early.hpp"
#include "host.hpp"

namespace tutti::preload {
namespace {

/// code: of the MPI's factory.
int added(int code, const MPI_Comm* made) {
  if (is_watched() && code == MPI_SUCCESS && made != nullptr) communicators().add(*made);
  return code;
}

int start(int code) { return code == MPI_SUCCESS ? begin() : code; }

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

extern "C" {

int MPI_Init(int* argc, char*** argv) { return start(PMPI_Init(argc, argv)); }

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return start(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return make_communicator("MPI_Comm_dup", comm, made, [&] { return PMPI_Comm_dup(comm, made); });
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return make_communicator("MPI_Comm_dup_with_info", comm, made,
                           [&] { return PMPI_Comm_dup_with_info(comm, info, made); });
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return make_communicator("MPI_Comm_split", comm, made, [&] { return PMPI_Comm_split(comm, color, key, made); });
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return make_communicator("MPI_Comm_split_type", comm, made,
                           [&] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return make_communicator("MPI_Comm_create", comm, made, [&] { return PMPI_Comm_create(comm, group, made); });
}

int MPI_Cart_create(MPI_Comm comm, int dims, const int sizes[], const int periods[], int reorder, MPI_Comm* made) {
  return make_communicator("MPI_Cart_create", comm, made,
                           [&] { return PMPI_Cart_create(comm, dims, sizes, periods, reorder, made); });
}

int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* made) {
  return make_communicator("MPI_Cart_sub", comm, made, [&] { return PMPI_Cart_sub(comm, remain, made); });
}

int MPI_Graph_create(MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm* made) {
  return make_communicator("MPI_Graph_create", comm, made,
                           [&] { return PMPI_Graph_create(comm, nodes, index, edges, reorder, made); });
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm* made) {
  return make_communicator("MPI_Dist_graph_create", comm, made, [&] {
    return PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, made);
  });
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int source_weights[],
                                   int outdegree, const int destinations[], const int destination_weights[],
                                   MPI_Info info, int reorder, MPI_Comm* made) {
  return make_communicator("MPI_Dist_graph_create_adjacent", comm, made, [&] {
    return PMPI_Dist_graph_create_adjacent(comm, indegree, sources, source_weights, outdegree, destinations,
                                           destination_weights, info, reorder, made);
  });
}

/// Collective over the group only, so that it is not compared.
int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return added(PMPI_Comm_create_group(comm, group, tag, made), made);
}

int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm* made) {
  return added(PMPI_Intercomm_merge(inter, high, made), made);
}

/// The new communicator may not be asked yet; it has the ranks of the old one.
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  const int code = PMPI_Comm_idup(comm, made, request);
  if (is_watched() && code == MPI_SUCCESS) communicators().add_copy(comm, *made);
  return code;
}

#if TUTTI_MPI_HAS_SESSIONS
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  const int code = PMPI_Comm_idup_with_info(comm, info, made, request);
  if (is_watched() && code == MPI_SUCCESS) communicators().add_copy(comm, *made);
  return code;
}

int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                               MPI_Comm* made) {
  return added(PMPI_Comm_create_from_group(group, tag, info, handler, made), made);
}
#endif

#ifdef MPICH_VERSION
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* made) { return added(PMPIX_Comm_shrink(comm, made), made); }
#endif
}
