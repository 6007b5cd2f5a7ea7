/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>

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

/* Blocks of one element each, at places that no int holds, in memory of which the system gives what is touched. */
static void fill_far(int64_t* data, int iteration) {
  for (int r = 0; r < size; ++r) {
    data[send_displs[r]] = value(rank, (size_t)r, iteration);
    data[recv_displs[r]] = -1;
  }
}
static void check_far(const int64_t* data, int iteration) {
  for (int r = 0; r < size; ++r) CHECK(data[recv_displs[r]] == value(r, (size_t)rank, iteration));
}
static void far_places(tutti_comm_t comm) {
  const size_t distance = ((size_t)1 << 31) + 7;
  const size_t bytes = sizeof(int64_t) * (2 * (size_t)size + 1) * distance;
  int64_t* const data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  int64_t there = data != MAP_FAILED ? 1 : 0;
  OK(tutti_allreduce(comm, TUTTI_IN_PLACE, &there, 1, TUTTI_INT64, TUTTI_MIN, NULL));
  for (int r = 0; r < size; ++r) {
    send_counts[r] = recv_counts[r] = 1;
    send_displs[r] = (2 * (size_t)(size - r)) * distance;
    recv_displs[r] = (2 * (size_t)(size - r) - 1) * distance;
  }
#define FILL(iteration) fill_far(data, iteration)
#define LOOK(iteration) check_far(data, iteration)
  if (there)
    THREE_FORMS(FILL, LOOK, alltoallv, comm, data, send_counts, send_displs, data, recv_counts, recv_displs,
                TUTTI_INT64);
#undef FILL
#undef LOOK
  if (data != MAP_FAILED) munmap(data, bytes);
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
  far_places(g->comm);
}
