/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size, root;
static int64_t sent[most], received[most];

static size_t counts[most_ranks], displs[most_ranks];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < most; ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  for (size_t i = 0; i < counts[rank]; ++i) CHECK(received[i] == value(root, displs[rank] + i, iteration));
  CHECK(received[counts[rank]] == -1);
}
static void check_in_place(int iteration) {
  if (rank != root) {
    check(iteration);
    return;
  }
  CHECK(received[0] == -1);
}

void test_scatterv(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (int r = 0; r < size; ++r) {
    counts[r] = size_of_block(r);
    displs[r] = place_of_block(r);
  }
  for (root = 0; root < size; ++root) {
    THREE_FORMS(fill, check, scatterv, g->comm, rank == root ? sent : NULL, rank == root ? counts : NULL,
                rank == root ? displs : NULL, received, counts[rank], TUTTI_INT64, root);
    THREE_FORMS(fill, check_in_place, scatterv, g->comm, sent, counts, displs, rank == root ? TUTTI_IN_PLACE : received,
                counts[rank], TUTTI_INT64, root);
  }
}
