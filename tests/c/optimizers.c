/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { count = 1001 };

static void test_dense(void) {
  tutti_dense_update_t update = TUTTI_DENSE_UPDATE_INIT;
  size_t values = 9;
  OK(tutti_dense_state_values(&update, &values));
  CHECK(values == 0);
  float x[2] = {1, 2};
  const float g[2] = {10, 20};
  update.learning_rate = 0.5;
  OK(tutti_dense_step(&update, 1, x, g, NULL, 2, TUTTI_FLOAT32));
  CHECK(x[0] == -4 && x[1] == -8);
  update.optimizer = TUTTI_DENSE_ADAM;
  OK(tutti_dense_state_values(&update, &values));
  CHECK(values == 2);
  double y[1] = {3};
  double state[2] = {0, 0};
  OK(tutti_dense_step(&update, 1, y, (const double[]){4}, state, 1, TUTTI_FLOAT64));
  CHECK(fabs(y[0] - 2.5) < 1e-6);
  FAILS(tutti_dense_step(&update, 1, y, y, NULL, 1, TUTTI_FLOAT64), TUTTI_ERROR_INVALID_ARGUMENT, "argument state");
  FAILS(tutti_dense_step(&update, 1, y, y, state, 1, TUTTI_INT32), TUTTI_ERROR_INVALID_DATATYPE, "int32");
  FAILS(tutti_dense_step(NULL, 1, y, y, state, 1, TUTTI_FLOAT64), TUTTI_ERROR_INVALID_ARGUMENT, "argument update");
  update.optimizer = 8;
  FAILS(tutti_dense_state_values(&update, &values), TUTTI_ERROR_INVALID_ARGUMENT, "member optimizer is 8");
}

/* Momentum on every rank, and divided over the ranks: the same values. */
static void test_sharded(const struct group* g) {
  float value[count], gradient[count], expected[count], velocity[count] = {0};
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  tutti_optimizer_t optimizer = TUTTI_OPTIMIZER_NULL;
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  tutti_dense_update_t update = TUTTI_DENSE_UPDATE_INIT;
  options.hook = TUTTI_HOOK_SHARDING;
  options.op = TUTTI_SUM;
  update.momentum = 0.5;
  update.learning_rate = 0.25;
  for (int i = 0; i < count; ++i) value[i] = expected[i] = (float)i;
  OK(tutti_reducer_create(g->comm, &options, &reducer));
  OK(tutti_reducer_add(reducer, "value", value, gradient, (const size_t[]){count}, 1, TUTTI_FLOAT32, NULL));
  OK(tutti_reducer_prepare(reducer));
  OK(tutti_optimizer_create(reducer, &update, &optimizer));
  void* saved = NULL;
  size_t bytes = 0;
  for (int step = 1; step <= 4; ++step) {
    for (int i = 0; i < count; ++i) gradient[i] = (float)((g->rank + 1) * (i % 7) * step);
    OK(tutti_reducer_ready(reducer, 0));
    OK(tutti_reducer_wait(reducer));
    double norm = 0;
    OK(tutti_optimizer_step(optimizer, 0.25, 0, &norm));
    float sum[count];
    for (int i = 0; i < count; ++i) sum[i] = (float)(g->size * (g->size + 1) / 2 * (i % 7) * step);
    OK(tutti_dense_step(&update, (uint64_t)step, expected, sum, velocity, count, TUTTI_FLOAT32));
    CHECK(memcmp(value, expected, sizeof value) == 0);
    if (step == 2) {
      OK(tutti_optimizer_save(optimizer, NULL, 0, &bytes));
      saved = malloc(bytes);
      OK(tutti_optimizer_save(optimizer, saved, bytes, &bytes));
      OK(tutti_optimizer_free(&optimizer));
      OK(tutti_optimizer_create(reducer, &update, &optimizer));
      OK(tutti_optimizer_load(optimizer, saved, bytes));
      free(saved);
    }
  }
  OK(tutti_optimizer_state_bytes(optimizer, &bytes));
  CHECK(bytes <= sizeof value / (size_t)g->size + 4096);
  uint64_t of_all = bytes;
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &of_all, 1, TUTTI_UINT64, TUTTI_SUM, NULL));
  CHECK(of_all >= sizeof value && of_all <= sizeof value + 4096);
  OK(tutti_optimizer_free(&optimizer));
  OK(tutti_reducer_free(&reducer));
  FAILS(tutti_optimizer_create(TUTTI_REDUCER_NULL, &update, &optimizer), TUTTI_ERROR_INVALID_ARGUMENT,
        "argument reducer");
  FAILS(tutti_optimizer_step(TUTTI_OPTIMIZER_NULL, 1, 0, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument optimizer");
}

void test_optimizers(const struct group* g) {
  test_dense();
  test_sharded(g);
}
