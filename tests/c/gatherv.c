/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size, root;
static int64_t sent[most], received[most];

static size_t counts[most_ranks], displs[most_ranks];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < (int)size_of_block(rank); ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void fill_in_place(int iteration) {
  fill(iteration);
  if (rank == root) memcpy(received + displs[rank], sent, counts[rank] * sizeof *sent);
}
static void check(int iteration) {
  if (rank != root) return;
  for (int r = 0; r < size; ++r) {
    CHECK(received[displs[r] - 1] == -1);
    for (size_t i = 0; i < counts[r]; ++i) CHECK(received[displs[r] + i] == value(r, i, iteration));
  }
}

void test_gatherv(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (int r = 0; r < size; ++r) {
    counts[r] = size_of_block(r);
    displs[r] = place_of_block(r);
  }
  for (root = 0; root < size; ++root) {
    THREE_FORMS(fill, check, gatherv, g->comm, sent, size_of_block(rank), rank == root ? received : NULL,
                rank == root ? counts : NULL, rank == root ? displs : NULL, TUTTI_INT64, root);
    THREE_FORMS(fill_in_place, check, gatherv, g->comm, rank == root ? TUTTI_IN_PLACE : sent, size_of_block(rank),
                received, counts, displs, TUTTI_INT64, root);
  }
}
