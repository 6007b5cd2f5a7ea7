/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size;
static int64_t sent[most], received[most];

static size_t counts[most_ranks], displs[most_ranks];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < (int)size_of_block(rank); ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void fill_in_place(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < (int)counts[rank]; ++i) received[(int)displs[rank] + i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  for (int r = 0; r < size; ++r) {
    CHECK(received[displs[r] - 1] == -1);
    for (size_t i = 0; i < counts[r]; ++i) CHECK(received[displs[r] + i] == value(r, i, iteration));
  }
}

void test_allgatherv(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (int r = 0; r < size; ++r) {
    counts[r] = size_of_block(r);
    displs[r] = place_of_block(r);
  }
  THREE_FORMS(fill, check, allgatherv, g->comm, sent, counts[rank], received, counts, displs, TUTTI_INT64);
  THREE_FORMS(fill_in_place, check, allgatherv, g->comm, TUTTI_IN_PLACE, 0, received, counts, displs, TUTTI_INT64);
}
