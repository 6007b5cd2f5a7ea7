/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

/* Every function that takes a communicator names the argument when it is null. */
static void test_null_communicator(void) {
  char x[8] = {0};
  size_t counts[most_ranks] = {0};
  tutti_request_t request;
  tutti_comm_t part;
  int number;
#define NONE(call) FAILS(call, TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm is TUTTI_COMM_NULL")
#define NONE_IN_THREE_FORMS(operation, ...)                    \
  NONE(tutti_##operation(NULL, __VA_ARGS__, NULL));            \
  NONE(tutti_i##operation(NULL, __VA_ARGS__, NULL, &request)); \
  NONE(tutti_##operation##_init(NULL, __VA_ARGS__, NULL, &request));
  NONE(tutti_barrier(NULL, NULL));
  NONE(tutti_ibarrier(NULL, NULL, &request));
  NONE(tutti_barrier_init(NULL, NULL, &request));
  NONE_IN_THREE_FORMS(bcast, x, 1, TUTTI_INT8, 0)
  NONE_IN_THREE_FORMS(reduce, x, x, 1, TUTTI_INT8, TUTTI_SUM, 0)
  NONE_IN_THREE_FORMS(allreduce, x, x, 1, TUTTI_INT8, TUTTI_SUM)
  NONE_IN_THREE_FORMS(reduce_scatter, x, x, counts, TUTTI_INT8, TUTTI_SUM)
  NONE_IN_THREE_FORMS(reduce_scatter_block, x, x, 1, TUTTI_INT8, TUTTI_SUM)
  NONE_IN_THREE_FORMS(gather, x, x, 1, TUTTI_INT8, 0)
  NONE_IN_THREE_FORMS(gatherv, x, 1, x, counts, counts, TUTTI_INT8, 0)
  NONE_IN_THREE_FORMS(scatter, x, x, 1, TUTTI_INT8, 0)
  NONE_IN_THREE_FORMS(scatterv, x, counts, counts, x, 1, TUTTI_INT8, 0)
  NONE_IN_THREE_FORMS(allgather, x, x, 1, TUTTI_INT8)
  NONE_IN_THREE_FORMS(allgatherv, x, 1, x, counts, counts, TUTTI_INT8)
  NONE_IN_THREE_FORMS(alltoall, x, x, 1, TUTTI_INT8)
  NONE_IN_THREE_FORMS(alltoallv, x, counts, counts, x, counts, counts, TUTTI_INT8)
  NONE_IN_THREE_FORMS(scan, x, x, 1, TUTTI_INT8, TUTTI_SUM)
  NONE_IN_THREE_FORMS(exscan, x, x, 1, TUTTI_INT8, TUTTI_SUM)
  CHECK(request == TUTTI_REQUEST_NULL);
  NONE(tutti_send(NULL, x, 1, TUTTI_INT8, 0, 0, NULL));
  NONE(tutti_recv(NULL, x, 1, TUTTI_INT8, 0, 0, NULL, NULL));
  NONE(tutti_sendrecv(NULL, x, 1, TUTTI_INT8, 0, 0, x, 1, TUTTI_INT8, 0, 0, NULL, NULL));
  NONE(tutti_isend(NULL, x, 1, TUTTI_INT8, 0, 0, NULL, &request));
  NONE(tutti_irecv(NULL, x, 1, TUTTI_INT8, 0, 0, NULL, &request));
  NONE(tutti_comm_rank(NULL, &number));
  NONE(tutti_comm_size(NULL, &number));
  NONE(tutti_comm_split(NULL, 0, 0, &part));
  NONE(tutti_comm_split_by_node(NULL, &part));
  NONE(tutti_comm_shrink(NULL, &part));
  NONE(tutti_comm_abort(NULL, NULL));
}

static void test_arguments(const struct group* g) {
  const tutti_comm_t comm = g->comm;
  int64_t x[most] = {0};
  int64_t y[most] = {0};
  size_t counts[most_ranks] = {0};
  FAILS(tutti_bcast(comm, x, 1, TUTTI_INT64, g->size, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "root");
  FAILS(tutti_bcast(comm, x, 1, TUTTI_INT64, -1, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "root");
  FAILS(tutti_reduce(comm, x, y, 1, TUTTI_INT64, TUTTI_SUM, -2, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "root");
  FAILS(tutti_bcast(comm, x, 1, 99, 0, NULL), TUTTI_ERROR_INVALID_DATATYPE, "99");
  FAILS(tutti_bcast(comm, x, 1, TUTTI_DATATYPE_NULL, 0, NULL), TUTTI_ERROR_INVALID_DATATYPE, "datatype");
  FAILS(tutti_allreduce(comm, x, y, 1, TUTTI_INT64, 99, NULL), TUTTI_ERROR_INVALID_OP, "99");
  FAILS(tutti_allreduce(comm, x, y, 1, TUTTI_INT64, TUTTI_OP_NULL, NULL), TUTTI_ERROR_INVALID_OP, "op");
  FAILS(tutti_allreduce(comm, x, y, 1, TUTTI_FLOAT64, TUTTI_BAND, NULL), TUTTI_ERROR_INVALID_OP, "band");
  FAILS(tutti_allreduce(comm, x, y, 1, TUTTI_INT64, TUTTI_MAXLOC, NULL), TUTTI_ERROR_INVALID_OP, "maxloc");
  FAILS(tutti_allreduce(comm, NULL, y, 1, TUTTI_INT64, TUTTI_SUM, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "send");
  FAILS(tutti_allreduce(comm, x, x, 1, TUTTI_INT64, TUTTI_SUM, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "in_place");
  FAILS(tutti_allreduce(comm, x, TUTTI_IN_PLACE, 1, TUTTI_INT64, TUTTI_SUM, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "recv");
  FAILS(tutti_alltoall(comm, x, y, SIZE_MAX / 2, TUTTI_INT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "address space");
  FAILS(tutti_allgatherv(comm, x, 1, y, NULL, NULL, TUTTI_INT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "recv_counts");
  FAILS(tutti_allgatherv(comm, x, 1, y, counts, counts, TUTTI_INT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "send");
  FAILS(tutti_send(comm, x, 1, TUTTI_INT64, -5, 0, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "dest");
  FAILS(tutti_send(comm, x, 1, TUTTI_INT64, 0, -1, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "tag");
  FAILS(tutti_send(comm, x, 1, 0, 0, 0, NULL), TUTTI_ERROR_INVALID_DATATYPE, "datatype");
  FAILS(tutti_recv(comm, x, 1, TUTTI_INT64, g->size, 0, NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "source");
  FAILS(tutti_comm_split(comm, -4, 0, &(tutti_comm_t){NULL}), TUTTI_ERROR_INVALID_ARGUMENT, "color");
  FAILS(tutti_comm_rank(comm, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "rank");
  FAILS(tutti_comm_free(NULL), TUTTI_ERROR_INVALID_ARGUMENT, "comm");
  FAILS(tutti_comm_duplicate(MPI_COMM_NULL, &(tutti_comm_t){NULL}), TUTTI_ERROR_INVALID_COMMUNICATOR, "MPI_COMM_NULL");
  FAILS(tutti_op_user(NULL, NULL, 1, &(tutti_op_t){0}), TUTTI_ERROR_INVALID_ARGUMENT, "function");
  FAILS(tutti_op_free(&(tutti_op_t){TUTTI_SUM}), TUTTI_ERROR_INVALID_OP, "1");
}

static void test_texts(void) {
  CHECK(strcmp(tutti_error_string(TUTTI_SUCCESS), "success") == 0);
  CHECK(strcmp(tutti_error_string(TUTTI_ERROR_TIMEOUT), "timed out") == 0);
  CHECK(strcmp(tutti_error_string(12345), "unknown error") == 0);
  CHECK(tutti_error_set(TUTTI_ERROR_IO, "of mine") == TUTTI_ERROR_IO);
  CHECK(strcmp(tutti_error_message(), "of mine") == 0);
  CHECK(strcmp(tutti_version(), TUTTI_VERSION_STRING) == 0);
  int kind = -1;
  OK(tutti_memory_kind(&kind, &kind));
  CHECK(kind == TUTTI_MEMORY_HOST);
}

/* What failed before anything was sent leaves the communicator as it was. */
void test_errors(const struct group* g) {
  test_null_communicator();
  test_arguments(g);
  test_texts();
  int64_t x = 1;
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, NULL));
  CHECK(x == g->size);
}
