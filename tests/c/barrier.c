/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static const struct group* on;
static double left;

/* The last rank comes late. Times are comparable: the ranks of these tests share a machine. */
static double come(void) {
  const double start = MPI_Wtime();
  while (on->rank == on->size - 1 && MPI_Wtime() - start < 0.01) OK(tutti_progress());
  return MPI_Wtime();
}

static double came;
static void fill(int iteration) {
  (void)iteration;
  came = come();
}
/* No rank leaves before the last has come. */
static void check(int iteration) {
  (void)iteration;
  left = MPI_Wtime();
  double last = came;
  OK(tutti_bcast(on->comm, &last, 1, TUTTI_FLOAT64, on->size - 1, NULL));
  CHECK(left >= last);
}

void test_barrier(const struct group* g) {
  on = g;
  THREE_FORMS(fill, check, barrier, g->comm);
}
