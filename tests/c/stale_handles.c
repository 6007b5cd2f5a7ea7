/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of handles that were freed, and garbage. */
#include "check.h"

#define GARBAGE(type, number) ((type)(uintptr_t)(number))

/* Handles that never were: small numbers, pointers, all bits, and a kind of handle in the place of another. */
static void test_garbage(const struct group* g) {
  int number = 0;
  int64_t x = 1;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  const uintptr_t words[] = {1,
                             8,
                             0xDEADBEEF,
                             (uintptr_t)&x,
                             UINTPTR_MAX,
                             UINTPTR_MAX / 3,
                             (uintptr_t)g->comm + 77,
                             (uintptr_t)g->comm ^ ((uintptr_t)1 << 24),
                             (uintptr_t)g->comm ^ ((uintptr_t)1 << 20)};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    FAILS(tutti_comm_rank(GARBAGE(tutti_comm_t, words[i]), &number), TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
    FAILS(tutti_allreduce(GARBAGE(tutti_comm_t, words[i]), TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, NULL),
          TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
    request = GARBAGE(tutti_request_t, words[i]);
    FAILS(tutti_wait(&request, NULL), TUTTI_ERROR_INVALID_REQUEST, "argument request");
    FAILS(tutti_request_free(&request), TUTTI_ERROR_INVALID_REQUEST, "argument request");
    tutti_comm_t comm = GARBAGE(tutti_comm_t, words[i]);
    FAILS(tutti_comm_free(&comm), TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
  }
  request = GARBAGE(tutti_request_t, g->comm);
  FAILS(tutti_wait(&request, NULL), TUTTI_ERROR_INVALID_REQUEST, "argument request");
}

static void test_freed_communicator(void) {
  int number = 0;
  int64_t x = 1;
  tutti_comm_t comm = TUTTI_COMM_NULL;
  tutti_comm_t next = TUTTI_COMM_NULL;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  OK(tutti_comm_duplicate(MPI_COMM_SELF, &comm));
  tutti_comm_t copy = comm;
  OK(tutti_comm_free(&comm));
  OK(tutti_comm_duplicate(MPI_COMM_SELF, &next)); /* perhaps in the same place */
  CHECK(next != copy);
  FAILS(tutti_comm_size(copy, &number), TUTTI_ERROR_INVALID_COMMUNICATOR, "freed through another copy");
  FAILS(tutti_ibarrier(copy, NULL, &request), TUTTI_ERROR_INVALID_COMMUNICATOR, "freed through another copy");
  FAILS(tutti_send(copy, &x, 1, TUTTI_INT64, 0, 0, NULL), TUTTI_ERROR_INVALID_COMMUNICATOR, "freed");
  FAILS(tutti_comm_abort(copy, NULL), TUTTI_ERROR_INVALID_COMMUNICATOR, "freed");
  FAILS(tutti_comm_free(&copy), TUTTI_ERROR_INVALID_COMMUNICATOR, "freed");
  OK(tutti_comm_size(next, &number));
  OK(tutti_comm_free(&next));
}

static void test_freed_requests(const struct group* g) {
  int64_t x = 1;
  int done = 0;
  int code = 0;
  int index = 0;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  OK(tutti_iallreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, NULL, &request));
  tutti_request_t copy = request;
  OK(tutti_wait(&request, NULL));
  CHECK(request == TUTTI_REQUEST_NULL && x == g->size);
  FAILS(tutti_wait(&copy, NULL), TUTTI_ERROR_INVALID_REQUEST, "freed through another copy");
  FAILS(tutti_test(&copy, &done, NULL), TUTTI_ERROR_INVALID_REQUEST, "freed");
  FAILS(tutti_waitall(1, &copy, NULL), TUTTI_ERROR_INVALID_REQUEST, "freed");
  FAILS(tutti_waitany(1, &copy, &index, NULL), TUTTI_ERROR_INVALID_REQUEST, "freed");
  FAILS(tutti_request_error(copy, &code), TUTTI_ERROR_INVALID_REQUEST, "freed");
  OK(tutti_barrier_init(g->comm, NULL, &request));
  copy = request;
  OK(tutti_request_free(&request));
  FAILS(tutti_start(&copy), TUTTI_ERROR_INVALID_REQUEST, "freed");
  FAILS(tutti_startall(1, &copy), TUTTI_ERROR_INVALID_REQUEST, "freed");
}

/* Every other kind. */
static void test_other_kinds(const struct group* g) {
  tutti_group_t group = TUTTI_GROUP_NULL;
  OK(tutti_group_create(g->comm, NULL, &group));
  tutti_group_t group_copy = group;
  OK(tutti_group_free(&group));
  FAILS(tutti_group_run(group_copy), TUTTI_ERROR_INVALID_ARGUMENT, "argument group");
  FAILS(tutti_group_free(&group_copy), TUTTI_ERROR_INVALID_ARGUMENT, "argument group");

  tutti_device_graph_t graph = GARBAGE(tutti_device_graph_t, g->comm);
  FAILS(tutti_device_graph_launch(graph, TUTTI_STREAM_NONE, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument graph");
  FAILS(tutti_device_graph_free(&graph), TUTTI_ERROR_INVALID_ARGUMENT, "argument graph");

#if TUTTI_HAS_TRAINING
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  tutti_optimizer_t optimizer = GARBAGE(tutti_optimizer_t, 4096);
  OK(tutti_reducer_create(g->comm, NULL, &reducer));
  tutti_reducer_t reducer_copy = reducer;
  OK(tutti_reducer_free(&reducer));
  FAILS(tutti_reducer_wait(reducer_copy), TUTTI_ERROR_INVALID_ARGUMENT, "argument reducer");
  FAILS(tutti_reducer_clip(reducer_copy, 1.0, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument reducer");
  FAILS(tutti_optimizer_step(optimizer, 1.0, 0.0, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument optimizer");

  tutti_server_t server = TUTTI_SERVER_NULL;
  OK(tutti_server_create(g->comm, 4, 1, NULL, &server));
  tutti_server_t server_copy = server;
  OK(tutti_server_free(&server));
  FAILS(tutti_server_fence(server_copy), TUTTI_ERROR_INVALID_ARGUMENT, "argument server");
  CHECK(strcmp(tutti_server_path(server_copy), "") == 0);

  tutti_embedding_t collection = GARBAGE(tutti_embedding_t, g->comm);
  FAILS(tutti_embedding_progress(collection), TUTTI_ERROR_INVALID_ARGUMENT, "argument collection");
  FAILS(tutti_embedding_free(&collection), TUTTI_ERROR_INVALID_ARGUMENT, "argument collection");
#endif
}

/* Places are taken again and again, by more handles than one block has. */
static void test_many(const struct group* g) {
  enum { many = 700 };
  static int64_t x[many];
  static tutti_request_t requests[many];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < many; ++i) {
      x[i] = i + round;
      OK(tutti_irecv(g->comm, &x[i], 1, TUTTI_INT64, g->rank, i, NULL, &requests[i]));
    }
    for (int i = many - 1; i >= 0; --i) {
      const int64_t value = 7 * i + round;
      OK(tutti_send(g->comm, &value, 1, TUTTI_INT64, g->rank, i, NULL));
    }
    OK(tutti_waitall(many, requests, NULL));
    for (int i = 0; i < many; ++i) CHECK(x[i] == 7 * i + round && requests[i] == TUTTI_REQUEST_NULL);
  }
}

void test_stale_handles(const struct group* g) {
  test_garbage(g);
  test_freed_communicator();
  test_freed_requests(g);
  test_other_kinds(g);
  test_many(g);
}
