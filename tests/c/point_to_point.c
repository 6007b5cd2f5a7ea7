/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { length = 20 };
static int64_t sent[length], received[length];

static void fill(int rank, int iteration) {
  for (int i = 0; i < length; ++i) {
    sent[i] = value(rank, (size_t)i, iteration);
    received[i] = -1;
  }
}
static void check(int from, int elements, int iteration) {
  for (int i = 0; i < elements; ++i) CHECK(received[i] == value(from, (size_t)i, iteration));
  for (int i = elements; i < length; ++i) CHECK(received[i] == -1);
}

/* Even ranks send to the next, odd ones receive; a shorter message than asked for is told by the status. */
static void test_blocking(const struct group* g) {
  tutti_status_t status = {-9, -9, 99};
  fill(g->rank, 1);
  if (g->rank % 2 == 0 && g->rank + 1 < g->size)
    OK(tutti_send(g->comm, sent, length - 3, TUTTI_INT64, g->rank + 1, 17, NULL));
  if (g->rank % 2 == 1) {
    OK(tutti_recv(g->comm, received, length, TUTTI_INT64, g->rank - 1, 17, NULL, &status));
    CHECK(status.source == g->rank - 1 && status.tag == 17 && status.count == length - 3);
    check(g->rank - 1, length - 3, 1);
  }
}

static void test_ring(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  tutti_status_t status;
  fill(g->rank, 2);
  OK(tutti_sendrecv(g->comm, sent, length, TUTTI_INT64, next, 4, received, length, TUTTI_INT64, last, 4, NULL,
                    &status));
  CHECK(status.source == last && status.count == length);
  check(last, length, 2);
  fill(g->rank, 3);
  tutti_request_t requests[2];
  tutti_status_t statuses[2];
  OK(tutti_irecv(g->comm, received, length, TUTTI_INT64, TUTTI_ANY_SOURCE, TUTTI_ANY_TAG, NULL, &requests[0]));
  OK(tutti_isend(g->comm, sent, 7, TUTTI_INT64, next, 5, NULL, &requests[1]));
  OK(tutti_waitall(2, requests, statuses));
  CHECK(statuses[0].source == last && statuses[0].tag == 5 && statuses[0].count == 7);
  check(last, 7, 3);
  OK(tutti_barrier(g->comm, NULL)); /* what follows must not meet the wildcards */
}

static void test_nobody(const struct group* g) {
  fill(g->rank, 4);
  OK(tutti_send(g->comm, sent, length, TUTTI_INT64, TUTTI_PROC_NULL, 0, NULL));
  OK(tutti_recv(g->comm, received, length, TUTTI_INT64, TUTTI_PROC_NULL, 0, NULL, NULL));
  check(g->rank, 0, 4);
}

/* The constants of the host MPI mean what they mean there. */
static void test_host_constants(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  tutti_request_t request;
  tutti_status_t status;
  fill(g->rank, 5);
  OK(tutti_send(g->comm, sent, length, TUTTI_INT64, MPI_PROC_NULL, 0, NULL));
  OK(tutti_recv(g->comm, received, length, TUTTI_INT64, MPI_PROC_NULL, MPI_ANY_TAG, NULL, &status));
  CHECK(status.source == TUTTI_PROC_NULL && status.count == 0);
  check(g->rank, 0, 5);
  OK(tutti_irecv(g->comm, received, length, TUTTI_INT64, MPI_ANY_SOURCE, MPI_ANY_TAG, NULL, &request));
  OK(tutti_send(g->comm, sent, length, TUTTI_INT64, next, 6, NULL));
  OK(tutti_wait(&request, &status));
  CHECK(status.source == last && status.tag == 6);
  check(last, length, 5);
  OK(tutti_barrier(g->comm, NULL)); /* what follows must not meet the wildcards */
  FAILS(tutti_send(g->comm, sent, 1, TUTTI_INT64, MPI_ANY_SOURCE, 0, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "dest");
  FAILS(tutti_send(g->comm, MPI_IN_PLACE, 1, TUTTI_INT64, 0, 0, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "in_place");
  CHECK((int)TUTTI_UNDEFINED == (int)MPI_UNDEFINED); /* enumerators of two types with the ABI of MPI 5 */
}

/* A bound ring, started again with other values. */
static void test_persistent(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  tutti_request_t requests[2];
  tutti_status_t statuses[2];
  OK(tutti_recv_init(g->comm, received, length, TUTTI_INT64, last, 11, NULL, &requests[0]));
  OK(tutti_send_init(g->comm, sent, length - 2, TUTTI_INT64, next, 11, NULL, &requests[1]));
  for (int iteration = 5; iteration < 8; ++iteration) {
    fill(g->rank, iteration);
    OK(tutti_startall(2, requests));
    OK(tutti_waitall(2, requests, statuses));
    CHECK(statuses[0].source == last && statuses[0].count == length - 2);
    check(last, length - 2, iteration);
  }
  for (int i = 0; i < 2; ++i) OK(tutti_request_free(&requests[i]));
  FAILS(tutti_send_init(g->comm, sent, 1, TUTTI_INT64, g->size, 0, NULL, &requests[0]), TUTTI_ERROR_INVALID_ARGUMENT,
        "dest");
}

/* The same of a group, which is empty after init. */
static void test_persistent_group(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  tutti_group_t group;
  tutti_request_t halo;
  OK(tutti_group_create(g->comm, NULL, &group));
  OK(tutti_group_send(group, sent, length, TUTTI_INT64, next, 12));
  OK(tutti_group_recv(group, received, length, TUTTI_INT64, last, 12));
  OK(tutti_group_init(group, &halo));
  OK(tutti_group_run(group));
  OK(tutti_group_free(&group));
  for (int iteration = 5; iteration < 8; ++iteration) {
    fill(g->rank, iteration);
    OK(tutti_start(&halo));
    OK(tutti_wait(&halo, NULL));
    check(last, length, iteration);
  }
  OK(tutti_request_free(&halo));
}

static void test_probe(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  tutti_status_t status = {-9, -9, 99};
  tutti_request_t request;
  int found = 7;
  OK(tutti_iprobe(g->comm, TUTTI_INT64, last, 14, &found, &status));
  CHECK(found == 0 && status.count == 99);
  OK(tutti_barrier(g->comm, NULL));
  fill(g->rank, 9);
  OK(tutti_isend(g->comm, sent, (size_t)(5 + g->rank), TUTTI_INT64, next, 14, NULL, &request));
  OK(tutti_probe(g->comm, TUTTI_INT64, TUTTI_ANY_SOURCE, 14, NULL, &status));
  CHECK(status.source == last && status.tag == 14 && status.count == (size_t)(5 + last));
  status.count = 99;
  OK(tutti_iprobe(g->comm, TUTTI_INT64, last, TUTTI_ANY_TAG, &found, &status));
  CHECK(found == 1 && status.count == (size_t)(5 + last));
  OK(tutti_recv(g->comm, received, status.count, TUTTI_INT64, last, 14, NULL, NULL));
  check(last, 5 + last, 9);
  OK(tutti_wait(&request, NULL));
  FAILS(tutti_probe(g->comm, 0, last, 14, NULL, &status), TUTTI_ERROR_INVALID_DATATYPE, "datatype");
}

enum { rows = 4, columns = 5 };

static void fill_matrix(int64_t* matrix, int rank, int iteration) {
  for (int i = 0; i < rows * columns; ++i) matrix[i] = value(rank, (size_t)i, iteration);
}

/* A column of one rank becomes a row, a column and a part of a matrix of the next. */
static void test_derived(const struct group* g) {
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  const size_t sizes[] = {rows, columns};
  const size_t subsizes[] = {2, 2};
  const size_t starts[] = {1, 3};
  int64_t from[rows * columns];
  int64_t to[rows * columns];
  tutti_datatype_t column = TUTTI_DATATYPE_NULL;
  tutti_datatype_t part = TUTTI_DATATYPE_NULL;
  tutti_group_t group;
  tutti_request_t halo;
  OK(tutti_datatype_vector(rows, 1, columns, TUTTI_INT64, &column));
  OK(tutti_datatype_subarray(2, sizes, subsizes, starts, TUTTI_ORDER_C, TUTTI_INT64, &part));
  fill_matrix(from, g->rank, 1);
  fill_matrix(to, 77, 1);
  tutti_status_t status;
  OK(tutti_sendrecv(g->comm, &from[2], 1, column, next, 21, to, rows, TUTTI_INT64, last, 21, NULL, &status));
  CHECK(status.count == rows);
  for (int r = 0; r < rows; ++r) CHECK(to[r] == value(last, (size_t)(r * columns + 2), 1));
  fill_matrix(to, 77, 1);
  OK(tutti_sendrecv(g->comm, &from[2], 1, column, next, 21, to, 1, part, last, 21, NULL, NULL));
  const int places[] = {8, 9, 13, 14};
  for (int r = 0; r < rows; ++r) CHECK(to[places[r]] == value(last, (size_t)(r * columns + 2), 1));
  CHECK(to[7] == value(77, 7, 1) && to[10] == value(77, 10, 1) && to[15] == value(77, 15, 1));
  OK(tutti_group_create(g->comm, NULL, &group));
  OK(tutti_group_send(group, &from[4], 1, column, next, 22));
  OK(tutti_group_recv(group, &to[0], 1, column, last, 22));
  OK(tutti_group_init(group, &halo));
  OK(tutti_group_free(&group));
  OK(tutti_datatype_free(&column));
  for (int iteration = 2; iteration < 5; ++iteration) {
    fill_matrix(from, g->rank, iteration);
    fill_matrix(to, 77, iteration);
    OK(tutti_start(&halo));
    OK(tutti_wait(&halo, NULL));
    for (int i = 0; i < rows * columns; ++i)
      CHECK(to[i] == (i % columns == 0 ? value(last, (size_t)i + 4, iteration) : value(77, (size_t)i, iteration)));
  }
  OK(tutti_request_free(&halo));
  OK(tutti_datatype_free(&part));
}

/* Row r of every rank becomes column r of rank r; sides tell the buffers apart. */
static void test_derived_collectives(const struct group* g) {
  int64_t from[4 * 4] = {0};
  int64_t to[4 * 4] = {0};
  tutti_datatype_t column = TUTTI_DATATYPE_NULL;
  tutti_datatype_t narrow = TUTTI_DATATYPE_NULL;
  tutti_datatype_t both = TUTTI_DATATYPE_NULL;
  const size_t n = (size_t)g->size;
  if (g->size > 4) return;
  for (size_t i = 0; i < n * 4; ++i) from[i] = value(g->rank, i, 6);
  OK(tutti_datatype_vector(4, 1, (ptrdiff_t)n, TUTTI_INT64, &column));
  OK(tutti_datatype_resized(column, 1, &narrow));
  OK(tutti_datatype_sides(TUTTI_INT64, narrow, &both));
  OK(tutti_alltoall(g->comm, from, to, 4, both, NULL));
  for (size_t r = 0; r < n; ++r)
    for (size_t i = 0; i < 4; ++i) CHECK(to[i * n + r] == value((int)r, (size_t)g->rank * 4 + i, 6));
  tutti_request_t request;
  OK(tutti_igather(g->comm, from, to, 4, both, 0, NULL, &request));
  OK(tutti_datatype_free(&both));
  OK(tutti_wait(&request, NULL));
  for (size_t r = 0; g->rank == 0 && r < n; ++r)
    for (size_t i = 0; i < 4; ++i) CHECK(to[i * n + r] == value((int)r, i, 6));
  for (size_t i = 0; i < n * 4; ++i) to[i] = value(g->rank, i, 7);
  OK(tutti_bcast(g->comm, to, 1, column, 0, NULL));
  for (size_t i = 0; i < n * 4; ++i) CHECK(to[i] == value(i % n == 0 ? 0 : g->rank, i, 7));
  size_t bytes = 0;
  OK(tutti_datatype_size(column, &bytes));
  CHECK(bytes == 4 * sizeof(int64_t));
  OK(tutti_datatype_sides(TUTTI_INT64, narrow, &both));
  FAILS(tutti_recv(g->comm, to, 3, both, 0, 0, NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "count");
  for (size_t i = 0; i < n * 4; ++i) to[i] = -1;
  OK(tutti_allreduce(g->comm, from, to, 1, column, TUTTI_MAX, NULL));
  for (size_t i = 0; i < n * 4; ++i) {
    int64_t greatest = value(0, i, 6);
    for (int r = 1; r < g->size; ++r)
      if (value(r, i, 6) > greatest) greatest = value(r, i, 6);
    CHECK(to[i] == (i % n == 0 ? greatest : -1));
  }
  FAILS(tutti_datatype_sides(TUTTI_INT32, narrow, &both), TUTTI_ERROR_INVALID_DATATYPE, "element");
  OK(tutti_datatype_free(&both));
  OK(tutti_datatype_free(&narrow));
  tutti_datatype_t copy = column;
  OK(tutti_datatype_free(&column));
  CHECK(column == TUTTI_DATATYPE_NULL);
  FAILS(tutti_send(g->comm, from, 1, copy, 0, 0, NULL), TUTTI_ERROR_INVALID_DATATYPE, "freed");
  FAILS(tutti_datatype_free(&copy), TUTTI_ERROR_INVALID_DATATYPE, "freed");
  FAILS(tutti_datatype_subarray(1, &n, &n, &n, TUTTI_ORDER_C, TUTTI_INT64, &copy), TUTTI_ERROR_INVALID_ARGUMENT,
        "starts");
}

void test_point_to_point(const struct group* g) {
  test_blocking(g);
  test_ring(g);
  test_nobody(g);
  test_host_constants(g);
  test_persistent(g);
  test_persistent_group(g);
  test_probe(g);
  test_derived(g);
  test_derived_collectives(g);
}
