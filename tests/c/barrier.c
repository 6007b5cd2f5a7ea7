/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#include "check.h"

static const struct group* on;
static double left;

/* One clock for all ranks, as they share a machine; MPI_Wtime may start at another moment in each process. */
static double seconds(void) {
  struct timespec t;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The last rank comes late. */
static double come(void) {
  const double start = seconds();
  while (on->rank == on->size - 1 && seconds() - start < 0.01) OK(tutti_progress());
  return seconds();
}

static double came;
static void fill(int iteration) {
  (void)iteration;
  came = come();
}
/* No rank leaves before the last has come. */
static void check(int iteration) {
  (void)iteration;
  left = seconds();
  double last = came;
  OK(tutti_bcast(on->comm, &last, 1, TUTTI_FLOAT64, on->size - 1, NULL));
  CHECK(left >= last);
}

void test_barrier(const struct group* g) {
  on = g;
  THREE_FORMS(fill, check, barrier, g->comm);
}
