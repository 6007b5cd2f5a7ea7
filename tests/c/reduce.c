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
  clear(sent);
  clear(received);
  for (int i = 0; i < block; ++i) received[i] = value(rank, (size_t)i, iteration);
}
static void check(int iteration) {
  if (rank != root) return;
  for (int i = 0; i < block; ++i) CHECK(received[i] == sum_of(0, size, (size_t)i, iteration));
  CHECK(received[block] == -1);
}

void test_reduce(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (root = 0; root < size; ++root) {
    THREE_FORMS(fill, check, reduce, g->comm, sent, received, block, TUTTI_INT64, TUTTI_SUM, root);
    THREE_FORMS(fill_in_place, check, reduce, g->comm, rank == root ? TUTTI_IN_PLACE : received, received, block,
                TUTTI_INT64, TUTTI_SUM, root);
  }
}
