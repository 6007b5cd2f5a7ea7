/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { calls = 4 };

/* Several outstanding collectives, finished in another order. */
static void test_many(const struct group* g) {
  int64_t data[calls];
  tutti_request_t requests[calls];
  int seen[calls] = {0};
  for (int i = 0; i < calls; ++i) {
    data[i] = value(g->rank, (size_t)i, 0);
    OK(tutti_iallreduce(g->comm, TUTTI_IN_PLACE, &data[i], 1, TUTTI_INT64, TUTTI_SUM, NULL, &requests[i]));
  }
  int error = -1;
  OK(tutti_request_error(requests[0], &error));
  CHECK(error == TUTTI_SUCCESS);
  int done = 0;
  while (!done) OK(tutti_test(&requests[calls - 1], &done, NULL));
  CHECK(requests[calls - 1] == TUTTI_REQUEST_NULL);
  for (int i = 0; i < calls - 1; ++i) {
    int index = -7;
    OK(tutti_waitany(calls, requests, &index, NULL));
    CHECK(index >= 0 && index < calls - 1);
    if (index >= 0) ++seen[index];
  }
  for (int i = 0; i < calls; ++i) {
    CHECK(data[i] == sum_of(0, g->size, (size_t)i, 0));
    CHECK(seen[i] == (i < calls - 1));
  }
  int index = -7;
  OK(tutti_waitany(calls, requests, &index, NULL));
  CHECK(index == TUTTI_UNDEFINED);
  OK(tutti_waitall(calls, requests, NULL));
}

/* Two persistent operations, started in different orders on even and odd ranks. */
static void test_persistent_order(const struct group* g) {
  int64_t data[2];
  tutti_request_t requests[2];
  for (int i = 0; i < 2; ++i)
    OK(tutti_allreduce_init(g->comm, TUTTI_IN_PLACE, &data[i], 1, TUTTI_INT64, TUTTI_SUM, NULL, &requests[i]));
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (int i = 0; i < 2; ++i) data[i] = value(g->rank, (size_t)i, iteration);
    if (iteration == 2) {
      OK(tutti_startall(2, requests));
    } else {
      OK(tutti_start(&requests[g->rank % 2]));
      OK(tutti_start(&requests[1 - g->rank % 2]));
    }
    OK(tutti_waitall(2, requests, NULL));
    for (int i = 0; i < 2; ++i) CHECK(data[i] == sum_of(0, g->size, (size_t)i, iteration));
  }
  for (int i = 0; i < 2; ++i) OK(tutti_request_free(&requests[i]));
}

/* Receives whose messages come one by one. */
static void test_some(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  int64_t data[3] = {-1, -1, -1};
  int64_t sent[3];
  tutti_request_t requests[3];
  tutti_status_t statuses[3];
  int indices[3] = {-7, -7, -7};
  int completed = -7;
  int done = -7;
  int index = -7;
  for (int i = 0; i < 3; ++i) {
    sent[i] = value(g->rank, (size_t)i, 3);
    OK(tutti_irecv(g->comm, &data[i], 1, TUTTI_INT64, last, 30 + i, NULL, &requests[i]));
  }
  OK(tutti_testsome(3, requests, &completed, indices, statuses));
  CHECK(completed == 0);
  OK(tutti_testany(3, requests, &index, &done, NULL));
  CHECK(done == 0 && index == TUTTI_UNDEFINED);
  OK(tutti_barrier(g->comm, NULL));
  OK(tutti_send(g->comm, &sent[1], 1, TUTTI_INT64, next, 31, NULL));
  OK(tutti_waitsome(3, requests, &completed, indices, statuses));
  CHECK(completed == 1 && indices[0] == 1 && statuses[0].tag == 31 && requests[1] == TUTTI_REQUEST_NULL);
  OK(tutti_testall(3, requests, &done, statuses));
  CHECK(done == 0 && requests[0] != TUTTI_REQUEST_NULL && requests[2] != TUTTI_REQUEST_NULL);
  OK(tutti_barrier(g->comm, NULL));
  OK(tutti_send(g->comm, &sent[2], 1, TUTTI_INT64, next, 32, NULL));
  done = 0;
  while (!done) OK(tutti_testany(3, requests, &index, &done, statuses));
  CHECK(index == 2 && statuses[0].tag == 32 && requests[2] == TUTTI_REQUEST_NULL);
  OK(tutti_barrier(g->comm, NULL));
  OK(tutti_send(g->comm, &sent[0], 1, TUTTI_INT64, next, 30, NULL));
  done = 0;
  while (!done) OK(tutti_testall(3, requests, &done, statuses));
  CHECK(statuses[0].tag == 30 && requests[0] == TUTTI_REQUEST_NULL);
  for (int i = 0; i < 3; ++i) CHECK(data[i] == value(last, (size_t)i, 3));
  OK(tutti_waitsome(3, requests, &completed, indices, NULL));
  CHECK(completed == TUTTI_UNDEFINED);
  OK(tutti_testany(3, requests, &index, &done, NULL));
  CHECK(done == 1 && index == TUTTI_UNDEFINED);
  FAILS(tutti_testsome(3, requests, &completed, NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "indices");
}

static void add(const void* in, void* inout, size_t count, tutti_datatype_t datatype, void* context) {
  (void)datatype;
  (void)context;
  for (size_t i = 0; i < count; ++i) ((int64_t*)inout)[i] += ((const int64_t*)in)[i];
}

/* A freed request goes on, and so does the user's operation that was freed before it. */
static void test_detached(const struct group* g) {
  static int64_t data;
  data = value(g->rank, 0, 0);
  tutti_op_t op;
  tutti_request_t request;
  OK(tutti_op_user(add, NULL, 1, &op));
  OK(tutti_iallreduce(g->comm, TUTTI_IN_PLACE, &data, 1, TUTTI_INT64, op, NULL, &request));
  OK(tutti_request_free(&request));
  OK(tutti_op_free(&op));
  CHECK(request == TUTTI_REQUEST_NULL && op == TUTTI_OP_NULL);
  volatile int64_t* seen = &data;
  while (*seen != sum_of(0, g->size, 0, 0)) OK(tutti_progress());
  OK(tutti_barrier(g->comm, NULL));
}

static void test_misuse(const struct group* g) {
  tutti_request_t request = TUTTI_REQUEST_NULL;
  int done = 0;
  FAILS(tutti_start(&request), TUTTI_ERROR_INVALID_REQUEST, "_init");
  OK(tutti_wait(&request, NULL));
  OK(tutti_test(&request, &done, NULL));
  CHECK(done == 1);
  OK(tutti_request_free(&request));
  FAILS(tutti_wait(NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "request");
  FAILS(tutti_ibarrier(g->comm, NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "request");
  OK(tutti_ibarrier(g->comm, NULL, &request));
  FAILS(tutti_start(&request), TUTTI_ERROR_INVALID_REQUEST, "persistent");
  OK(tutti_wait(&request, NULL));
}

void test_requests(const struct group* g) {
  test_many(g);
  test_persistent_order(g);
  test_some(g);
  test_detached(g);
  test_misuse(g);
}
