/* SPDX-License-Identifier: BSD-3-Clause */
#include "every_collective.h"

enum { most_ranks = 16, untouched = -1 };

static const char* const names[collectives] = {
    "bcast",      "reduce",   "allreduce", "reduce_scatter", "reduce_scatter_block",
    "gather",     "gatherv",  "scatter",   "scatterv",       "allgather",
    "allgatherv", "alltoall", "alltoallv", "scan",           "exscan"};

const char* every_name(enum collective which) { return names[which]; }

size_t every_count(int size) { return (size_t)size * every_block; }

int64_t every_given(int rank, size_t i) { return 1000 * (int64_t)(rank + 1) + (int64_t)i; }

static int root_of(int size) { return size - 1; }

/* The sum over ranks below `end`. */
static int64_t sum_below(int end, size_t i) {
  int64_t sum = 0;
  for (int r = 0; r < end; ++r) sum += every_given(r, i);
  return sum;
}

static int64_t gathered(size_t i) { return every_given((int)(i / every_block), i % every_block); }

int64_t every_expected(enum collective which, int rank, int size, size_t i) {
  const size_t mine = (size_t)rank * every_block;
  const int is_root = rank == root_of(size);
  const int is_first = i < every_block;
  switch (which) {
    case every_bcast:
      return every_given(root_of(size), i);
    case every_reduce:
      return is_root ? sum_below(size, i) : untouched;
    case every_allreduce:
      return sum_below(size, i);
    case every_reduce_scatter:
    case every_reduce_scatter_block:
      return is_first ? sum_below(size, mine + i) : untouched;
    case every_gather:
    case every_gatherv:
      return is_root ? gathered(i) : untouched;
    case every_scatter:
    case every_scatterv:
      return is_first ? every_given(root_of(size), mine + i) : untouched;
    case every_allgather:
    case every_allgatherv:
      return gathered(i);
    case every_alltoall:
    case every_alltoallv:
      return every_given((int)(i / every_block), mine + i % every_block);
    case every_scan:
      return sum_below(rank + 1, i);
    case every_exscan:
      return rank > 0 ? sum_below(rank, i) : untouched;
    default:
      return untouched;
  }
}

#define CALL(operation, ...)                                          \
  switch (form) {                                                     \
    case blocking:                                                    \
      return tutti_##operation(__VA_ARGS__, options);                 \
    case nonblocking:                                                 \
      return tutti_i##operation(__VA_ARGS__, options, request);       \
    default:                                                          \
      return tutti_##operation##_init(__VA_ARGS__, options, request); \
  }

int every_call(enum collective which, enum form form, tutti_comm_t comm, const int64_t* sendbuf, int64_t* recvbuf,
               const tutti_options_t* options, tutti_request_t* request) {
  const tutti_datatype_t type = TUTTI_INT64;
  const size_t n = every_block;
  int size = 0;
  const int code = tutti_comm_size(comm, &size);
  if (code != TUTTI_SUCCESS || size > most_ranks) return code;
  const size_t all = every_count(size);
  const int root = root_of(size);
  size_t counts[most_ranks];
  size_t displs[most_ranks];
  for (int r = 0; r < size; ++r) {
    counts[r] = n;
    displs[r] = (size_t)r * n;
  }
  switch (which) {
    case every_bcast:
      CALL(bcast, comm, recvbuf, all, type, root)
    case every_reduce:
      CALL(reduce, comm, sendbuf, recvbuf, all, type, TUTTI_SUM, root)
    case every_allreduce:
      CALL(allreduce, comm, sendbuf, recvbuf, all, type, TUTTI_SUM)
    case every_reduce_scatter:
      CALL(reduce_scatter, comm, sendbuf, recvbuf, counts, type, TUTTI_SUM)
    case every_reduce_scatter_block:
      CALL(reduce_scatter_block, comm, sendbuf, recvbuf, n, type, TUTTI_SUM)
    case every_gather:
      CALL(gather, comm, sendbuf, recvbuf, n, type, root)
    case every_gatherv:
      CALL(gatherv, comm, sendbuf, n, recvbuf, counts, displs, type, root)
    case every_scatter:
      CALL(scatter, comm, sendbuf, recvbuf, n, type, root)
    case every_scatterv:
      CALL(scatterv, comm, sendbuf, counts, displs, recvbuf, n, type, root)
    case every_allgather:
      CALL(allgather, comm, sendbuf, recvbuf, n, type)
    case every_allgatherv:
      CALL(allgatherv, comm, sendbuf, n, recvbuf, counts, displs, type)
    case every_alltoall:
      CALL(alltoall, comm, sendbuf, recvbuf, n, type)
    case every_alltoallv:
      CALL(alltoallv, comm, sendbuf, counts, displs, recvbuf, counts, displs, type)
    case every_scan:
      CALL(scan, comm, sendbuf, recvbuf, all, type, TUTTI_SUM)
    case every_exscan:
      CALL(exscan, comm, sendbuf, recvbuf, all, type, TUTTI_SUM)
    default:
      return TUTTI_ERROR_INTERNAL;
  }
}
