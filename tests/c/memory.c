/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static void test_use(const struct group* g) {
  const size_t count = 100000;
  double* x = NULL;
  double* y = NULL;
  OK(tutti_allocate(g->comm, count * sizeof *x + 16 * (size_t)g->rank, TUTTI_MEMORY_HOST, (void**)&x));
  OK(tutti_allocate(g->comm, count * sizeof *y, TUTTI_MEMORY_HOST, (void**)&y));
  CHECK(x != NULL && y != NULL && x != y);
  CHECK((uintptr_t)x % 4096 == 0);
  CHECK(x[0] == 0 && x[count - 1] == 0);
  for (size_t i = 0; i < count; ++i) x[i] = (double)(i % 100) * (g->rank + 1);
  OK(tutti_allreduce(g->comm, x, y, count, TUTTI_FLOAT64, TUTTI_SUM, NULL));
  size_t wrong = 0;
  for (size_t i = 0; i < count; ++i) wrong += y[i] != (double)(i % 100) * g->size * (g->size + 1) / 2;
  CHECK(wrong == 0);
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, x + 1, count - 1, TUTTI_FLOAT64, TUTTI_SUM, NULL));
  for (size_t i = 1; i < count; ++i) wrong += x[i] != y[i];
  CHECK(wrong == 0);
  FAILS(tutti_deallocate(x + 1), TUTTI_ERROR_INVALID_ARGUMENT, "argument data");
  OK(tutti_deallocate(x));
  FAILS(tutti_deallocate(x), TUTTI_ERROR_INVALID_ARGUMENT, "argument data");
  OK(tutti_deallocate(y));
}

/* It may outlive the communicator, and be empty. */
static void test_life(const struct group* g) {
  tutti_comm_t part = TUTTI_COMM_NULL;
  char* x = NULL;
  OK(tutti_comm_split(g->comm, 0, -g->rank, &part));
  OK(tutti_allocate(part, (size_t)g->rank, TUTTI_MEMORY_HOST, (void**)&x));
  OK(tutti_comm_free(&part));
  CHECK(x != NULL);
  for (int i = 0; i < g->rank; ++i) CHECK(x[i] == 0);
  OK(tutti_deallocate(x));
  OK(tutti_deallocate(NULL));
}

static void test_refused(const struct group* g) {
  void* x = g->comm;
  const int is_last = g->rank == g->size - 1;
  FAILS(tutti_allocate(TUTTI_COMM_NULL, 8, TUTTI_MEMORY_HOST, &x), TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
  CHECK(x == NULL);
  FAILS(tutti_allocate(g->comm, 8, TUTTI_MEMORY_HOST, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument data");
  FAILS(tutti_allocate(g->comm, 8, 77, &x), TUTTI_ERROR_INVALID_ARGUMENT, "argument kind");
  FAILS(tutti_allocate(g->comm, is_last ? SIZE_MAX : 8, TUTTI_MEMORY_HOST, &x), TUTTI_ERROR_INVALID_ARGUMENT,
        "argument bytes");
  CHECK(x == NULL);
}

void test_memory(const struct group* g) {
  test_use(g);
  test_life(g);
  test_refused(g);
}
