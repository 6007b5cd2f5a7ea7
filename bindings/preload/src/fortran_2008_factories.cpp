// SPDX-License-Identifier: BSD-3-Clause
// The begin of MPI and the factories of communicators in MPICH's module mpi_f08, which call PMPI_ functions, past those
// of factories.cpp.
#include <mpi.h>

#include "early.hpp"
#include "fortran_2008.hpp"

#ifdef MPICH_VERSION

namespace tutti::preload {
namespace {

/// name: the C function's.
template <typename... Arguments>
void make(const char* name, const char* hidden, MPI_Comm from, MPI_Comm* made, MPI_Fint* ierror,
          Arguments*... arguments) {
  MPI_Fint result = MPI_SUCCESS;
  const int code = make_communicator(name, from, made, [&] {
    call_hidden(hidden, arguments...);
    result = ierror == nullptr ? MPI_SUCCESS : *ierror;
    return result;
  });
  if (code != result) set(ierror, code);
}

void start(MPI_Fint* ierror) {
  if (ierror != nullptr && *ierror != MPI_SUCCESS) return;
  const int code = begin();
  if (code != MPI_SUCCESS) set(ierror, code);
}

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

extern "C" {

void mpi_init_f08_(MPI_Fint* ierror) {
  call_hidden("mpi_init_f08_", ierror);
  start(ierror);
}
void mpi_init_thread_f08_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  call_hidden("mpi_init_thread_f08_", required, provided, ierror);
  start(ierror);
}

void mpi_comm_dup_f08_(MPI_Comm* comm, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Comm_dup", "mpi_comm_dup_f08_", *comm, made, ierror, comm, made, ierror);
}
void mpi_comm_dup_with_info_f08_(MPI_Comm* comm, MPI_Info* info, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Comm_dup_with_info", "mpi_comm_dup_with_info_f08_", *comm, made, ierror, comm, info, made, ierror);
}
void mpi_comm_split_f08_(MPI_Comm* comm, MPI_Fint* color, MPI_Fint* key, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Comm_split", "mpi_comm_split_f08_", *comm, made, ierror, comm, color, key, made, ierror);
}
void mpi_comm_split_type_f08_(MPI_Comm* comm, MPI_Fint* type, MPI_Fint* key, MPI_Info* info, MPI_Comm* made,
                              MPI_Fint* ierror) {
  make("MPI_Comm_split_type", "mpi_comm_split_type_f08_", *comm, made, ierror, comm, type, key, info, made, ierror);
}
void mpi_comm_create_f08_(MPI_Comm* comm, MPI_Group* group, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Comm_create", "mpi_comm_create_f08_", *comm, made, ierror, comm, group, made, ierror);
}
void mpi_cart_create_f08_(MPI_Comm* comm, MPI_Fint* dims, const MPI_Fint* sizes, const MPI_Fint* periods,
                          MPI_Fint* reorder, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Cart_create", "mpi_cart_create_f08_", *comm, made, ierror, comm, dims, sizes, periods, reorder, made,
       ierror);
}
void mpi_cart_sub_f08_(MPI_Comm* comm, const MPI_Fint* remain, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Cart_sub", "mpi_cart_sub_f08_", *comm, made, ierror, comm, remain, made, ierror);
}
void mpi_graph_create_f08_(MPI_Comm* comm, MPI_Fint* nodes, const MPI_Fint* index, const MPI_Fint* edges,
                           MPI_Fint* reorder, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Graph_create", "mpi_graph_create_f08_", *comm, made, ierror, comm, nodes, index, edges, reorder, made,
       ierror);
}
void mpi_dist_graph_create_f08_(MPI_Comm* comm, MPI_Fint* n, const MPI_Fint* sources, const MPI_Fint* degrees,
                                const MPI_Fint* destinations, const MPI_Fint* weights, MPI_Info* info,
                                MPI_Fint* reorder, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Dist_graph_create", "mpi_dist_graph_create_f08_", *comm, made, ierror, comm, n, sources, degrees,
       destinations, weights, info, reorder, made, ierror);
}
void mpi_dist_graph_create_adjacent_f08_(MPI_Comm* comm, MPI_Fint* indegree, const MPI_Fint* sources,
                                         const MPI_Fint* source_weights, MPI_Fint* outdegree,
                                         const MPI_Fint* destinations, const MPI_Fint* destination_weights,
                                         MPI_Info* info, MPI_Fint* reorder, MPI_Comm* made, MPI_Fint* ierror) {
  make("MPI_Dist_graph_create_adjacent", "mpi_dist_graph_create_adjacent_f08_", *comm, made, ierror, comm, indegree,
       sources, source_weights, outdegree, destinations, destination_weights, info, reorder, made, ierror);
}
void mpi_comm_idup_f08_(MPI_Comm* comm, MPI_Comm* made, MPI_Request* request, MPI_Fint* ierror) {
  set(ierror, MPI_Comm_idup(*comm, made, request));
}
void mpi_comm_create_group_f08_(MPI_Comm* comm, MPI_Group* group, MPI_Fint* tag, MPI_Comm* made, MPI_Fint* ierror) {
  set(ierror, MPI_Comm_create_group(*comm, *group, *tag, made));
}
void mpi_intercomm_merge_f08_(MPI_Comm* inter, MPI_Fint* high, MPI_Comm* made, MPI_Fint* ierror) {
  call_hidden("mpi_intercomm_merge_f08_", inter, high, made, ierror);
  if (is_watched()) communicators().add(*made);
}
}

#endif
