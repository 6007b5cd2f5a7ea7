/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size;
static int64_t sent[most], received[most];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < block; ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void fill_in_place(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < block; ++i) received[i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  if (rank == 0) return;
  for (int i = 0; i < block; ++i) CHECK(received[i] == sum_of(0, rank, (size_t)i, iteration));
  CHECK(received[block] == -1);
}

/* Rank 0's buffer is left as it is. */
static void check_first(int iteration) {
  check(iteration);
  if (rank == 0) CHECK(received[0] == -1);
}

void test_exscan(const struct group* g) {
  rank = g->rank;
  size = g->size;
  THREE_FORMS(fill, check_first, exscan, g->comm, sent, received, block, TUTTI_INT64, TUTTI_SUM);
  THREE_FORMS(fill_in_place, check, exscan, g->comm, TUTTI_IN_PLACE, received, block, TUTTI_INT64, TUTTI_SUM);
}
