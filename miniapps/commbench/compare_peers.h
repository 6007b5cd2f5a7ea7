/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives of compare_peers.c, on float32 with sum and root 0, over the MPI or over Tutti. `count`: elements of
   the whole vector or of all blocks; `block`: of one. */
#pragma once

#include <mpi.h>
#include <stdio.h>

enum operation {
  op_barrier,
  op_bcast,
  op_reduce,
  op_allreduce,
  op_reduce_scatter,
  op_allgather,
  op_alltoall,
  op_gather,
  op_scatter,
  operation_count
};

static const char* const operation_names[] = {"barrier",   "bcast",    "reduce", "allreduce", "reduce_scatter",
                                              "allgather", "alltoall", "gather", "scatter"};

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

#ifdef COMPARE_TUTTI

#include <tutti.h>

static tutti_comm_t library_comm;

static void require(int code) {
  if (code == TUTTI_SUCCESS) return;
  fprintf(stderr, "compare_peers: %s\n", tutti_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void library_start(void) { require(tutti_comm_duplicate(MPI_COMM_WORLD, &library_comm)); }
static void library_end(void) { require(tutti_comm_free(&library_comm)); }
static void library_barrier(void) { require(tutti_barrier(library_comm, NULL)); }
static void library_bcast_int(int* x) { require(tutti_bcast(library_comm, x, 1, TUTTI_INT32, 0, NULL)); }

static void library_call(enum operation op, float* s, float* d, long count, long block) {
  const size_t n = (size_t)count, k = (size_t)block;
  tutti_comm_t comm = library_comm;
  switch (op) {
    case op_barrier:
      return require(tutti_barrier(comm, NULL));
    case op_bcast:
      return require(tutti_bcast(comm, s, n, TUTTI_FLOAT32, 0, NULL));
    case op_reduce:
      return require(tutti_reduce(comm, s, d, n, TUTTI_FLOAT32, TUTTI_SUM, 0, NULL));
    case op_allreduce:
      return require(tutti_allreduce(comm, s, d, n, TUTTI_FLOAT32, TUTTI_SUM, NULL));
    case op_reduce_scatter:
      return require(tutti_reduce_scatter_block(comm, s, d, k, TUTTI_FLOAT32, TUTTI_SUM, NULL));
    case op_allgather:
      return require(tutti_allgather(comm, s, d, k, TUTTI_FLOAT32, NULL));
    case op_alltoall:
      return require(tutti_alltoall(comm, s, d, k, TUTTI_FLOAT32, NULL));
    case op_gather:
      return require(tutti_gather(comm, s, d, k, TUTTI_FLOAT32, 0, NULL));
    default:
      return require(tutti_scatter(comm, s, d, k, TUTTI_FLOAT32, 0, NULL));
  }
}

#elif defined COMPARE_BARE

#include "compare_bare.h"

#else

static void library_start(void) {}
static void library_end(void) {}
static void library_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void library_bcast_int(int* x) { MPI_Bcast(x, 1, MPI_INT, 0, MPI_COMM_WORLD); }

static void library_call(enum operation op, float* s, float* d, long count, long block) {
  const int n = (int)count, k = (int)block;
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (op) {
    case op_barrier:
      MPI_Barrier(comm);
      return;
    case op_bcast:
      MPI_Bcast(s, n, MPI_FLOAT, 0, comm);
      return;
    case op_reduce:
      MPI_Reduce(s, d, n, MPI_FLOAT, MPI_SUM, 0, comm);
      return;
    case op_allreduce:
      MPI_Allreduce(s, d, n, MPI_FLOAT, MPI_SUM, comm);
      return;
    case op_reduce_scatter:
      MPI_Reduce_scatter_block(s, d, k, MPI_FLOAT, MPI_SUM, comm);
      return;
    case op_allgather:
      MPI_Allgather(s, k, MPI_FLOAT, d, k, MPI_FLOAT, comm);
      return;
    case op_alltoall:
      MPI_Alltoall(s, k, MPI_FLOAT, d, k, MPI_FLOAT, comm);
      return;
    case op_gather:
      MPI_Gather(s, k, MPI_FLOAT, d, k, MPI_FLOAT, 0, comm);
      return;
    default:
      MPI_Scatter(s, k, MPI_FLOAT, d, k, MPI_FLOAT, 0, comm);
      return;
  }
}

#endif
