/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check.h"

enum { rows = 3, columns = 40 };

/* A model of two parameters, and its gradients. */
struct model {
  double matrix[rows * columns], matrix_gradient[rows * columns];
  float bias[2];
};

static void fill(struct model* m, float* bias_gradient, int rank, int step) {
  for (int i = 0; i < rows * columns; ++i) m->matrix_gradient[i] = rank + i + 1000.0 * step;
  for (int i = 0; i < 2; ++i) bias_gradient[i] = (float)(2 * rank + i + step);
}

static double mean_rank(const struct group* g) { return (g->size - 1) / 2.0; }

static int is_reduced(const struct group* g, const struct model* m, const float* bias_gradient, int step) {
  int wrong = 0;
  for (int i = 0; i < rows * columns; ++i) wrong += m->matrix_gradient[i] != mean_rank(g) + i + 1000.0 * step;
  for (int i = 0; i < 2; ++i) wrong += bias_gradient[i] != (float)(2 * mean_rank(g) + i + step);
  return wrong == 0;
}

static void add_both(tutti_reducer_t reducer, struct model* m) {
  size_t index = 99;
  OK(tutti_reducer_add(reducer, "matrix", m->matrix, m->matrix_gradient, (const size_t[]){rows, columns}, 2,
                       TUTTI_FLOAT64, &index));
  CHECK(index == 0);
  OK(tutti_reducer_add(reducer, "bias", m->bias, NULL, (const size_t[]){2}, 1, TUTTI_FLOAT32, &index));
  CHECK(index == 1);
}

static float* bias_gradient_of(tutti_reducer_t reducer) {
  void* address = NULL;
  size_t count = 0;
  OK(tutti_reducer_gradient(reducer, 1, &address, &count));
  CHECK(count == 2 && address != NULL);
  return address;
}

static void steps(const struct group* g, tutti_reducer_t reducer, struct model* m, int count) {
  for (int step = 0; step < count; ++step) {
    float* gradient = bias_gradient_of(reducer);
    fill(m, gradient, g->rank, step);
    OK(tutti_reducer_ready(reducer, 1));
    OK(tutti_reducer_progress(reducer));
    OK(tutti_reducer_ready(reducer, 0));
    OK(tutti_reducer_wait(reducer));
    CHECK(is_reduced(g, m, bias_gradient_of(reducer), step));
  }
}

static void test_steps(const struct group* g) {
  struct model m = {.matrix = {g->rank + 1.0}, .bias = {7.0f * (float)g->rank, 1}};
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  OK(tutti_reducer_create(g->comm, NULL, &reducer));
  add_both(reducer, &m);
  OK(tutti_reducer_prepare(reducer));
  CHECK(m.matrix[0] == 1.0 && m.bias[0] == 0.0f);
  steps(g, reducer, &m, 4);
  int used = 0;
  OK(tutti_reducer_used(reducer, 1, &used));
  CHECK(used == 1);
  tutti_reducer_figures_t figures;
  OK(tutti_reducer_statistics(reducer, &figures));
  CHECK(figures.steps == 4 && figures.buckets >= 1 && figures.bucket_bytes == (size_t)25 << 20);
  size_t layout = 0;
  OK(tutti_reducer_layout(reducer, &layout));
  CHECK(layout >= 1);
  double norm = 0;
  const double before = m.matrix_gradient[5];
  OK(tutti_reducer_clip(reducer, 1.0, &norm));
  CHECK(norm > 1000 && m.matrix_gradient[5] < before);
  size_t length = 0;
  char* text = NULL;
  OK(tutti_reducer_map(reducer, NULL, 0, &length));
  text = malloc(length + 1);
  OK(tutti_reducer_map(reducer, text, length + 1, &length));
  CHECK(strlen(text) == length && strstr(text, "matrix") != NULL && strstr(text, "bias") != NULL);
  OK(tutti_reducer_map(reducer, text, 4, &length));
  CHECK(strlen(text) == 3);
  free(text);
  OK(tutti_reducer_set_sync(reducer, 0));
  fill(&m, bias_gradient_of(reducer), g->rank, 9);
  OK(tutti_reducer_ready(reducer, 0));
  OK(tutti_reducer_wait(reducer));
  CHECK(m.matrix_gradient[0] == g->rank + 9000.0);
  OK(tutti_reducer_free(&reducer));
  CHECK(reducer == TUTTI_REDUCER_NULL);
}

static void test_saved(const struct group* g) {
  struct model m = {.bias = {0, 0}};
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  options.hook = TUTTI_HOOK_POWER_SGD;
  options.power_sgd_start_step = 1000;
  size_t bytes = 0;
  OK(tutti_reducer_create(g->comm, &options, &reducer));
  add_both(reducer, &m);
  OK(tutti_reducer_prepare(reducer));
  steps(g, reducer, &m, 2);
  OK(tutti_reducer_save(reducer, NULL, 0, &bytes));
  CHECK(bytes > 0);
  char* state = malloc(bytes);
  FAILS(tutti_reducer_save(reducer, state, bytes - 1, &bytes), TUTTI_ERROR_INVALID_ARGUMENT, "argument capacity");
  OK(tutti_reducer_save(reducer, state, bytes, &bytes));
  OK(tutti_reducer_free(&reducer));
  OK(tutti_reducer_create(g->comm, &options, &reducer));
  add_both(reducer, &m);
  OK(tutti_reducer_prepare(reducer));
  OK(tutti_reducer_load(reducer, state, bytes));
  steps(g, reducer, &m, 2);
  OK(tutti_reducer_free(&reducer));
  free(state);
}

/* Rank r has r + 2 steps. */
static void test_uneven(const struct group* g) {
  struct model m = {.bias = {0, 0}};
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  options.uneven = 1;
  options.op = TUTTI_SUM;
  OK(tutti_reducer_create(g->comm, &options, &reducer));
  add_both(reducer, &m);
  OK(tutti_reducer_prepare(reducer));
  for (int step = 0; step < g->rank + 2; ++step) {
    float* gradient = bias_gradient_of(reducer);
    gradient[0] = gradient[1] = 1;
    m.matrix_gradient[0] = 1;
    OK(tutti_reducer_ready(reducer, 0));
    OK(tutti_reducer_ready(reducer, 1));
    OK(tutti_reducer_wait(reducer));
    const int active = step < 2 ? g->size : g->size - (step - 1);
    CHECK(m.matrix_gradient[0] == active);
    CHECK(bias_gradient_of(reducer)[1] == (float)active);
  }
  int more = 1;
  int joined = -1;
  for (; more; ++joined) OK(tutti_reducer_join(reducer, &more));
  CHECK(joined == g->size - 1 - g->rank);
  OK(tutti_reducer_free(&reducer));
}

static void test_refused(const struct group* g) {
  tutti_reducer_t reducer = (tutti_reducer_t)&failures;
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  double x[2] = {0, 0};
  FAILS(tutti_reducer_create(TUTTI_COMM_NULL, NULL, &reducer), TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
  CHECK(reducer == TUTTI_REDUCER_NULL);
  FAILS(tutti_reducer_create(g->comm, NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument reducer");
  options.size = 3;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "TUTTI_REDUCER_OPTIONS_INIT");
  options.size = sizeof options;
  options.hook = 77;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "member hook is 77");
  options.hook = TUTTI_HOOK_USER;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "user_hook is NULL");
  options.hook = TUTTI_HOOK_NONE;
  options.op = TUTTI_MAX;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "member op");
  FAILS(tutti_reducer_ready(TUTTI_REDUCER_NULL, 0), TUTTI_ERROR_INVALID_ARGUMENT, "argument reducer is NULL");
  FAILS(tutti_reducer_wait(TUTTI_REDUCER_NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument reducer");

  OK(tutti_reducer_create(g->comm, NULL, &reducer));
  FAILS(tutti_reducer_add(reducer, NULL, x, x, NULL, 0, TUTTI_FLOAT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "argument name");
  FAILS(tutti_reducer_add(reducer, "x", x, x, NULL, 1, TUTTI_FLOAT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "argument shape");
  OK(tutti_reducer_add(reducer, "x", x, x + 1, NULL, 0, TUTTI_FLOAT64, NULL));
  OK(tutti_reducer_prepare(reducer));
  OK(tutti_reducer_ready(reducer, 0));
  if (g->rank == g->size - 1) (void)tutti_reducer_ready(reducer, 0);
  FAILS(tutti_reducer_wait(reducer), TUTTI_ERROR_INVALID_ARGUMENT, "x");
  OK(tutti_reducer_free(&reducer));
  OK(tutti_reducer_free(&reducer));
  if (g->size == 1) return;
  OK(tutti_reducer_create(g->comm, NULL, &reducer));
  const size_t shape = g->rank == 0 ? 1 : 2;
  OK(tutti_reducer_add(reducer, "unlike", x, NULL, &shape, 1, TUTTI_FLOAT64, NULL));
  FAILS(tutti_reducer_prepare(reducer), TUTTI_ERROR_MISMATCH, "unlike");
  OK(tutti_reducer_free(&reducer));
}

void test_reducer(const struct group* g) {
  test_steps(g);
  test_saved(g);
  test_uneven(g);
  test_refused(g);
}
