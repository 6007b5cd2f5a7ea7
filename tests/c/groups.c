/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

/* Every rank sends to all and receives from all, sends first on odd ranks: no order can deadlock. */
static void post(const struct group* g, tutti_group_t group, int64_t* sent, int64_t* received, int iteration) {
  for (int step = 0; step < 2; ++step)
    for (int r = 0; r < g->size; ++r) {
      if ((g->rank + step) % 2 == 1) {
        sent[r] = value(g->rank, (size_t)r, iteration);
        OK(tutti_group_send(group, &sent[r], 1, TUTTI_INT64, r, 9));
      } else {
        received[r] = -1;
        OK(tutti_group_recv(group, &received[r], 1, TUTTI_INT64, r, 9));
      }
    }
}

static void check(const struct group* g, const int64_t* received, int iteration) {
  for (int r = 0; r < g->size; ++r) CHECK(received[r] == value(r, (size_t)g->rank, iteration));
}

void test_groups(const struct group* g) {
  int64_t sent[most_ranks];
  int64_t received[most_ranks];
  tutti_group_t group = TUTTI_GROUP_NULL;
  OK(tutti_group_create(g->comm, NULL, &group));
  for (int iteration = 0; iteration < 2; ++iteration) {
    post(g, group, sent, received, iteration);
    OK(tutti_group_run(group));
    check(g, received, iteration);
  }
  post(g, group, sent, received, 7);
  tutti_request_t request = TUTTI_REQUEST_NULL;
  OK(tutti_group_start(group, &request));
  OK(tutti_wait(&request, NULL));
  check(g, received, 7);
  OK(tutti_group_run(group)); /* it is empty again */
  FAILS(tutti_group_send(group, sent, 1, TUTTI_INT64, g->size, 9), TUTTI_ERROR_INVALID_ARGUMENT, "dest");
  FAILS(tutti_group_send(NULL, sent, 1, TUTTI_INT64, 0, 9), TUTTI_ERROR_INVALID_ARGUMENT, "TUTTI_GROUP_NULL");
  tutti_group_t none = group;
  FAILS(tutti_group_create(NULL, NULL, &none), TUTTI_ERROR_INVALID_COMMUNICATOR, "comm");
  CHECK(none == TUTTI_GROUP_NULL);
  OK(tutti_group_free(&group));
  CHECK(group == TUTTI_GROUP_NULL);
}
