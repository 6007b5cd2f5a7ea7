/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

enum { most_buckets = 4 };

/* A hook of the user's: a persistent allreduce a bucket. */
struct hook {
  tutti_bucket_t buckets[most_buckets];
  tutti_request_t requests[most_buckets];
  size_t count;
  int started;
  int fails;
};

static int prepare(void* context, size_t comm_count, const tutti_comm_t* comms, size_t count,
                   const tutti_bucket_t* buckets) {
  struct hook* hook = context;
  for (size_t b = 0; b < hook->count; ++b) tutti_request_free(&hook->requests[b]);
  hook->count = count;
  if (count > most_buckets) return tutti_error_set(TUTTI_ERROR_INTERNAL, "too many buckets");
  for (size_t b = 0; b < count; ++b) {
    const tutti_bucket_t* bucket = hook->buckets + b;
    hook->buckets[b] = buckets[b];
    const int code = tutti_allreduce_init(comms[b % comm_count], TUTTI_IN_PLACE, bucket->data, bucket->count,
                                          bucket->datatype, bucket->op, NULL, &hook->requests[b]);
    if (code) return code;
  }
  return TUTTI_SUCCESS;
}

static int start(void* context, size_t bucket) {
  struct hook* hook = context;
  ++hook->started;
  if (hook->fails) return tutti_error_set(TUTTI_ERROR_IO, "this hook fails");
  return tutti_start(&hook->requests[bucket]);
}

static int test(void* context, size_t bucket, int* done) {
  struct hook* hook = context;
  return tutti_test(&hook->requests[bucket], done, NULL);
}

static size_t bytes(void* context, size_t bucket) {
  (void)context;
  return 1000 + bucket;
}

static void run(const struct group* g, const tutti_reducer_options_t* options, double tolerance) {
  double gradient[200];
  double norms[3];
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  OK(tutti_reducer_create(g->comm, options, &reducer));
  OK(tutti_reducer_add(reducer, "p", NULL, gradient, (const size_t[]){10, 20}, 2, TUTTI_FLOAT64, NULL));
  OK(tutti_reducer_prepare(reducer));
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 200; ++i) gradient[i] = (g->rank + 1) * (1 + i % 20);
    OK(tutti_reducer_ready(reducer, 0));
    OK(tutti_reducer_wait(reducer));
    double worst = 0;
    for (int i = 0; i < 200; ++i) {
      const double expected = (g->size + 1) / 2.0 * (1 + i % 20);
      const double error = gradient[i] > expected ? gradient[i] - expected : expected - gradient[i];
      if (error / expected > worst) worst = error / expected;
    }
    CHECK(worst <= tolerance);
    OK(tutti_reducer_clip(reducer, 1e9, norms + step));
  }
  tutti_reducer_figures_t figures;
  OK(tutti_reducer_statistics(reducer, &figures));
  if (options->hook == TUTTI_HOOK_USER) CHECK(figures.bytes_per_step == 1000);
  if (options->hook == TUTTI_HOOK_BF16) CHECK(figures.bytes_per_step == 400);
  OK(tutti_reducer_free(&reducer));
}

static void run_user(const struct group* g) {
  struct hook hook = {.count = 0};
  tutti_hook_t functions = TUTTI_HOOK_INIT;
  functions.context = &hook;
  functions.prepare = prepare;
  functions.start = start;
  functions.test = test;
  functions.bytes = bytes;
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  options.hook = TUTTI_HOOK_USER;
  options.user_hook = &functions;
  run(g, &options, 0);
  CHECK(hook.started == 3 && hook.count == 1);
  for (size_t b = 0; b < hook.count; ++b) OK(tutti_request_free(&hook.requests[b]));
  hook.count = 0;

  hook.fails = 1;
  double x[2] = {0, 0};
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  OK(tutti_reducer_create(g->comm, &options, &reducer));
  OK(tutti_reducer_add(reducer, "p", x, x + 1, NULL, 0, TUTTI_FLOAT64, NULL));
  OK(tutti_reducer_prepare(reducer));
  (void)tutti_reducer_ready(reducer, 0);
  FAILS(tutti_reducer_wait(reducer), TUTTI_ERROR_IO, "this hook fails");
  OK(tutti_reducer_free(&reducer));
  for (size_t b = 0; b < hook.count; ++b) OK(tutti_request_free(&hook.requests[b]));

  functions.test = NULL;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "member test");
}

void test_hooks(const struct group* g) {
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  run(g, &options, 0);
  options.hook = TUTTI_HOOK_BF16;
  run(g, &options, 0.01);
  options.hook = TUTTI_HOOK_FP16;
  run(g, &options, 0.002);
  options.hook = TUTTI_HOOK_POWER_SGD; /* the matrix has rank 1 */
  options.power_sgd_rank = 1;
  options.power_sgd_start_step = 1;
  run(g, &options, 1e-6);
  run_user(g);
}
