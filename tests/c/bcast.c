/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size, root;
static int64_t received[most];

static void fill(int iteration) {
  clear(received);
  for (int i = 0; i < block; ++i) received[i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  for (int i = 0; i < block; ++i) CHECK(received[i] == value(root, (size_t)i, iteration));
  CHECK(received[block] == -1);
}

void test_bcast(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (root = 0; root < size; ++root) THREE_FORMS(fill, check, bcast, g->comm, received, block, TUTTI_INT64, root);
}
