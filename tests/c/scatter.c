/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size, root;
static int64_t sent[most], received[most];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int i = 0; i < size * block; ++i) sent[i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  for (int i = 0; i < block; ++i) CHECK(received[i] == value(root, (size_t)(rank * block + i), iteration));
  CHECK(received[block] == -1);
}
/* The root's block stays where it is. */
static void check_in_place(int iteration) {
  if (rank != root) {
    check(iteration);
    return;
  }
  for (int i = 0; i < size * block; ++i) CHECK(sent[i] == value(root, (size_t)i, iteration));
  CHECK(received[0] == -1);
}

void test_scatter(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (root = 0; root < size; ++root) {
    THREE_FORMS(fill, check, scatter, g->comm, rank == root ? sent : NULL, received, block, TUTTI_INT64, root);
    THREE_FORMS(fill, check_in_place, scatter, g->comm, sent, rank == root ? TUTTI_IN_PLACE : received, block,
                TUTTI_INT64, root);
  }
}
