/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { all = 11, dim = 3 };

static void test_path(const struct group* g, int direct) {
  tutti_server_t server = TUTTI_SERVER_NULL;
  tutti_server_options_t options = TUTTI_SERVER_OPTIONS_INIT;
  options.direct = direct;
  OK(tutti_server_create(g->comm, all, dim, &options, &server));
  if (!direct) CHECK(strcmp(tutti_server_path(server), "mpi") == 0);
  int64_t rows = 0;
  size_t width = 0;
  OK(tutti_server_shape(server, &rows, &width));
  CHECK(rows == all && width == dim);

  float* local = NULL;
  int64_t first = -1;
  size_t count = 0;
  OK(tutti_server_local(server, &local, &first, &count));
  for (size_t i = 0; i < count * dim; ++i) local[i] = (float)(first * dim) + (float)i;
  OK(tutti_server_fence(server));
  float values[3 * dim];
  OK(tutti_server_pull(server, (const int64_t[]){10, 0, 10}, 3, values));
  CHECK(values[0] == 30 && values[2] == 32 && values[3] == 0 && values[6] == 30);
  OK(tutti_server_fence(server));

  const float ones[2 * dim] = {1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 10; ++i) OK(tutti_server_push(server, (const int64_t[]){5, 5}, 2, ones, 0.5));
  OK(tutti_server_progress(server));
  OK(tutti_server_fence(server));
  OK(tutti_server_pull(server, (const int64_t[]){5}, 1, values));
  CHECK(values[1] == (float)(16 - 10 * g->size));
  OK(tutti_server_fence(server));

  FAILS(tutti_server_pull(server, (const int64_t[]){11}, 1, values), TUTTI_ERROR_INDEX_OUT_OF_RANGE, "from 0 to 10");
  FAILS(tutti_server_pull(server, (const int64_t[]){1}, 1, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument values");
  FAILS(tutti_server_push(server, NULL, 1, ones, 1), TUTTI_ERROR_INVALID_ARGUMENT, "argument rows");
  OK(tutti_server_free(&server));
  CHECK(server == TUTTI_SERVER_NULL);
}

void test_server(const struct group* g) {
  test_path(g, 1);
  test_path(g, 0);
  tutti_server_t server = TUTTI_SERVER_NULL;
  tutti_server_options_t options = TUTTI_SERVER_OPTIONS_INIT;
  options.optimizer = 5;
  FAILS(tutti_server_create(g->comm, 1, 1, &options, &server), TUTTI_ERROR_INVALID_ARGUMENT, "member optimizer is 5");
  FAILS(tutti_server_create(g->comm, -1, 1, NULL, &server), TUTTI_ERROR_INVALID_ARGUMENT, "argument rows is -1");
  FAILS(tutti_server_fence(TUTTI_SERVER_NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument server");
  CHECK(strcmp(tutti_server_path(TUTTI_SERVER_NULL), "") == 0);
}
