/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti_c_tests [name]: one test, or all but truncation, on all ranks and then on two halves whose ranks are in
 * reversed order. */
#include "check.h"

int failures = 0;

static void run(const char* chosen, const struct group* g) {
#define RUN(name) \
  if (chosen == NULL || strcmp(chosen, #name) == 0) test_##name(g);
  TESTS(RUN)
#undef RUN
  if (chosen != NULL && strcmp(chosen, "truncation") == 0) test_truncation(g);
}

static struct group group_on(tutti_comm_t comm) {
  struct group g = {comm, -1, -1};
  OK(tutti_comm_rank(comm, &g.rank));
  OK(tutti_comm_size(comm, &g.size));
  return g;
}

int main(int argc, char** argv) {
  FAILS(tutti_comm_duplicate(MPI_COMM_WORLD, &(tutti_comm_t){NULL}), TUTTI_ERROR_FINALIZED, "MPI_Init");
  MPI_Init(&argc, &argv);
  tutti_comm_t world = TUTTI_COMM_NULL;
  tutti_comm_t half = TUTTI_COMM_NULL;
  OK(tutti_comm_duplicate(MPI_COMM_WORLD, &world));
  const struct group all = group_on(world);
  OK(tutti_comm_split(world, all.rank % 2, -all.rank, &half));
  const struct group part = group_on(half);
  const char* chosen = argc > 1 ? argv[1] : NULL;
  run(chosen, &all);
  run(chosen, &part);
  OK(tutti_comm_free(&half));
  OK(tutti_comm_free(&world));
  CHECK(world == TUTTI_COMM_NULL);

  int total = 0;
  MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all.rank == 0) printf("%s: %d failures\n", chosen ? chosen : "all", total);
  MPI_Finalize();
  return total == 0 ? 0 : 1;
}
