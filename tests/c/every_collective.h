/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_C_EVERY_COLLECTIVE_H
#define TUTTI_TESTS_C_EVERY_COLLECTIVE_H

#include <tutti/tutti.h>

/* Every collective that has buffers, in every form, on the same two buffers. */
enum collective {
  every_bcast,
  every_reduce,
  every_allreduce,
  every_reduce_scatter,
  every_reduce_scatter_block,
  every_gather,
  every_gatherv,
  every_scatter,
  every_scatterv,
  every_allgather,
  every_allgatherv,
  every_alltoall,
  every_alltoallv,
  every_scan,
  every_exscan,
  collectives
};
enum form { blocking, nonblocking, persistent, forms };
enum { every_block = 3 };

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers in each of both buffers: a block a rank. */
size_t every_count(int size);
/* What this rank puts into sendbuf; recvbuf holds -1, but for bcast, which has this there. */
int64_t every_given(int rank, size_t i);
/* What recvbuf has afterwards; -1 where the call does not write. */
int64_t every_expected(enum collective which, int rank, int size, size_t i);
/* `request` is not looked at in the blocking form. */
int every_call(enum collective which, enum form form, tutti_comm_t comm, const int64_t* sendbuf, int64_t* recvbuf,
               const tutti_options_t* options, tutti_request_t* request);
const char* every_name(enum collective which);

#ifdef __cplusplus
}
#endif

#endif
