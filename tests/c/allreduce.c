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
  for (int i = 0; i < block; ++i) CHECK(received[i] == sum_of(0, size, (size_t)i, iteration));
  CHECK(received[block] == -1);
}

void test_allreduce(const struct group* g) {
  rank = g->rank;
  size = g->size;
  THREE_FORMS(fill, check, allreduce, g->comm, sent, received, block, TUTTI_INT64, TUTTI_SUM);
  THREE_FORMS(fill_in_place, check, allreduce, g->comm, TUTTI_IN_PLACE, received, block, TUTTI_INT64, TUTTI_SUM);
  THREE_FORMS(fill_in_place, check, allreduce, g->comm, MPI_IN_PLACE, received, block, TUTTI_INT64, TUTTI_SUM);
}
