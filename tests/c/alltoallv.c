/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int rank, size;
static int64_t sent[most], received[most];

static size_t send_counts[most_ranks], send_displs[most_ranks], recv_counts[most_ranks], recv_displs[most_ranks];

/* Rank s sends (s + r) % 3 elements to rank r, the same as it gets from there; blocks stand four apart. */
static void fill_blocks(int64_t* data, int iteration) {
  clear(sent);
  clear(received);
  for (int r = 0; r < size; ++r)
    for (size_t i = 0; i < send_counts[r]; ++i) data[send_displs[r] + i] = value(rank, (size_t)r * 10 + i, iteration);
}
static void fill(int iteration) { fill_blocks(sent, iteration); }
static void fill_in_place(int iteration) { fill_blocks(received, iteration); }
static void check(int iteration) {
  for (int r = 0; r < size; ++r) {
    for (size_t i = 0; i < recv_counts[r]; ++i)
      CHECK(received[recv_displs[r] + i] == value(r, (size_t)rank * 10 + i, iteration));
    CHECK(received[recv_displs[r] + recv_counts[r]] == -1);
  }
}

void test_alltoallv(const struct group* g) {
  rank = g->rank;
  size = g->size;
  for (int r = 0; r < size; ++r) {
    send_counts[r] = recv_counts[r] = (size_t)((rank + r) % 3);
    send_displs[r] = recv_displs[r] = (size_t)r * 4;
  }
  THREE_FORMS(fill_in_place, check, alltoallv, g->comm, TUTTI_IN_PLACE, NULL, NULL, received, recv_counts, recv_displs,
              TUTTI_INT64);
  for (int r = 0; r < size; ++r) recv_displs[r] = (size_t)(size - 1 - r) * 5;
  THREE_FORMS(fill, check, alltoallv, g->comm, sent, send_counts, send_displs, received, recv_counts, recv_displs,
              TUTTI_INT64);
}
