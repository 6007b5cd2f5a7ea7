/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size;
static int64_t sent[most], received[most];

static size_t counts[most_ranks];

static int total(int ranks) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += (int)counts[r];
  return sum;
}
static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < total(size); ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void fill_in_place(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < total(size); ++i) received[i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  for (int i = 0; i < (int)counts[rank]; ++i)
    CHECK(received[i] == sum_of(0, size, (size_t)(total(rank) + i), iteration));
}

void test_reduce_scatter(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (int r = 0; r < size; ++r) counts[r] = size_of_block(r);
  THREE_FORMS(fill, check, reduce_scatter, g->comm, sent, received, counts, TUTTI_INT64, TUTTI_SUM);
  CHECK(received[counts[rank]] == -1);
  THREE_FORMS(fill_in_place, check, reduce_scatter, g->comm, TUTTI_IN_PLACE, received, counts, TUTTI_INT64, TUTTI_SUM);
}
