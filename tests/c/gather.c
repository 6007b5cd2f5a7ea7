/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size, root;
static int64_t sent[most], received[most];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < block; ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void fill_in_place(int iteration) {
  fill(iteration);
  if (rank == root) memcpy(received + rank * block, sent, block * sizeof *sent);
}
static void check(int iteration) {
  if (rank != root) return;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < block; ++i) CHECK(received[r * block + i] == value(r, (size_t)i, iteration));
  CHECK(received[size * block] == -1);
}

void test_gather(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (root = 0; root < size; ++root) {
    THREE_FORMS(fill, check, gather, g->comm, sent, rank == root ? received : NULL, block, TUTTI_INT64, root);
    THREE_FORMS(fill_in_place, check, gather, g->comm, rank == root ? TUTTI_IN_PLACE : sent, received, block,
                TUTTI_INT64, root);
  }
}
