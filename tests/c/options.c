/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static int sum_with(const struct group* g, const tutti_options_t* options) {
  int64_t x = value(g->rank, 0, 0);
  const int code = tutti_allreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, options);
  if (code == TUTTI_SUCCESS) CHECK(x == sum_of(0, g->size, 0, 0));
  return code;
}

void test_options(const struct group* g) {
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  OK(sum_with(g, &options));
  options.reproducible = 1;
  options.timeout = 60.0;
  options.memory = TUTTI_MEMORY_HOST;
  OK(sum_with(g, &options));

  /* A program built with an older, shorter struct. */
  tutti_options_t shorter = TUTTI_OPTIONS_INIT;
  shorter.size = offsetof(tutti_options_t, timeout);
  shorter.timeout = -1.0;
  OK(sum_with(g, &shorter));

  tutti_options_t wrong = TUTTI_OPTIONS_INIT;
  wrong.size = 0;
  FAILS(sum_with(g, &wrong), TUTTI_ERROR_INVALID_ARGUMENT, "TUTTI_OPTIONS_INIT");
  wrong.size = sizeof wrong;
  wrong.version = 1000;
  FAILS(sum_with(g, &wrong), TUTTI_ERROR_INVALID_ARGUMENT, "version");
  wrong.version = TUTTI_OPTIONS_VERSION;
  wrong.timeout = -1.0;
  FAILS(sum_with(g, &wrong), TUTTI_ERROR_INVALID_ARGUMENT, "timeout");
  wrong.timeout = 0.0;
  wrong.memory = 9;
  FAILS(sum_with(g, &wrong), TUTTI_ERROR_INVALID_ARGUMENT, "memory");
  wrong.memory = TUTTI_MEMORY_DETECT;
  wrong.algorithm = "no such";
  FAILS(sum_with(g, &wrong), TUTTI_ERROR_INVALID_ALGORITHM, "no such");
}
