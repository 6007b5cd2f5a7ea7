/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

/* A message longer than the buffer is an error, and the buffer's end is not crossed. */
void test_truncation(const struct group* g) {
  int64_t data[8];
  for (int i = 0; i < 8; ++i) data[i] = i;
  if (g->rank == 0 && g->size > 1) OK(tutti_send(g->comm, data, 8, TUTTI_INT64, 1, 8, NULL));
  if (g->rank == 1) {
    for (int i = 0; i < 8; ++i) data[i] = -1;
    FAILS(tutti_recv(g->comm, data, 4, TUTTI_INT64, 0, 8, NULL, NULL), TUTTI_ERROR_TRUNCATED, "");
    CHECK(data[4] == -1);
  }
}
