/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check.h"

static int64_t reduced(const struct group* g, int64_t mine, tutti_op_t op) {
  int64_t result = -1;
  OK(tutti_allreduce(g->comm, &mine, &result, 1, TUTTI_INT64, op, NULL));
  return result;
}

static void test_built_in(const struct group* g) {
  const int64_t n = g->size;
  int64_t product = 1;
  for (int r = 0; r < g->size; ++r) product *= r + 2;
  CHECK(reduced(g, g->rank + 2, TUTTI_PROD) == product);
  CHECK(reduced(g, 10 - g->rank, TUTTI_MIN) == 11 - n);
  CHECK(reduced(g, 10 - g->rank, TUTTI_MAX) == 10);
  CHECK(reduced(g, 2 * g->rank + 1, TUTTI_AVG) == n);
  CHECK(reduced(g, g->rank != 0, TUTTI_LAND) == 0);
  CHECK(reduced(g, g->rank == 0, TUTTI_LOR) == 1);
  CHECK(reduced(g, 1, TUTTI_LXOR) == n % 2);
  CHECK(reduced(g, 255 - (1 << g->rank), TUTTI_BAND) == 256 - (1 << n));
  CHECK(reduced(g, 1 << g->rank, TUTTI_BOR) == (1 << n) - 1);
  CHECK(reduced(g, 3, TUTTI_BXOR) == (n % 2 ? 3 : 0));
}

static void test_location(const struct group* g) {
  struct {
    double value;
    int32_t index;
  } pair = {g->rank == 0 ? 1.0 : 5.0, g->rank + 40};
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &pair, 1, TUTTI_FLOAT64_INT32, TUTTI_MAXLOC, NULL));
  CHECK(pair.value == (g->size > 1 ? 5.0 : 1.0) && pair.index == (g->size > 1 ? 41 : 40));
}

static void test_scaled(const struct group* g) {
  tutti_op_t op;
  OK(tutti_op_premul_sum(0.5 * (g->rank + 1), &op));
  CHECK(strcmp(tutti_op_name(op), "premul_sum") == 0);
  float x[3] = {2, 4, 6};
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, x, 3, TUTTI_FLOAT32, op, NULL));
  const float factor = 0.25F * (float)(g->size * (g->size + 1));
  for (int i = 0; i < 3; ++i) CHECK(x[i] == factor * (float)(2 * i + 2));
  OK(tutti_op_free(&op));
}

/* 2x2 matrices, as 32 opaque bytes: associative, not commutative. */
static void multiply(const void* in, void* inout, size_t count, tutti_datatype_t datatype, void* context) {
  const int64_t* a = in;
  int64_t* b = inout;
  *(int*)context += datatype == tutti_datatype_bytes(32);
  for (size_t i = 0; i < count; ++i, a += 4, b += 4) {
    const int64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                          a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}

static void matrix_of(int rank, int64_t* m) {
  const int64_t values[4] = {1, rank + 1, rank % 2, 1};
  memcpy(m, values, sizeof values);
}

static void test_user(const struct group* g) {
  int called = 0;
  tutti_op_t op;
  OK(tutti_op_user(multiply, &called, 0, &op));
  CHECK(op > TUTTI_MAXLOC && strcmp(tutti_op_name(op), "user") == 0);
  int64_t mine[12], expected[4], next[4];
  for (int i = 0; i < 3; ++i) matrix_of(g->rank, mine + 4 * i);
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, mine, 3, tutti_datatype_bytes(32), op, NULL));
  if (g->size > 1) CHECK(called > 0);
  matrix_of(g->size - 1, expected);
  for (int r = g->size - 2; r >= 0; --r) {
    matrix_of(r, next);
    multiply(next, expected, 1, TUTTI_BYTE, &called);
  }
  for (int i = 0; i < 12; ++i) CHECK(mine[i] == expected[i % 4]);
  OK(tutti_op_free(&op));
  CHECK(op == TUTTI_OP_NULL);
  OK(tutti_op_free(&op));
}

/* Arrays of one rank: the order is that of the inputs, and the output may be one of them. */
static void test_combine(const struct group* g) {
  int32_t a[3] = {1, 2, g->rank}, b[3] = {10, 20, 30}, c[3] = {100, 200, 300}, out[3] = {0, 0, 0};
  const void* inputs[3] = {a, b, c};
  OK(tutti_combine(inputs, 3, out, 3, TUTTI_INT32, TUTTI_SUM));
  CHECK(out[0] == 111 && out[1] == 222 && out[2] == 330 + g->rank);
  OK(tutti_combine(inputs, 2, b, 2, TUTTI_INT32, TUTTI_MAX));
  CHECK(b[0] == 10 && b[1] == 20 && b[2] == 30);
  int called = 0;
  int64_t x[4], y[4], wanted[4];
  const void* matrices[2] = {x, y};
  tutti_op_t op;
  matrix_of(g->rank, x);
  matrix_of(g->rank + 1, y);
  memcpy(wanted, y, sizeof y);
  multiply(x, wanted, 1, TUTTI_BYTE, &called);
  OK(tutti_op_user(multiply, &called, 0, &op));
  OK(tutti_combine(matrices, 2, y, 1, tutti_datatype_bytes(32), op));
  CHECK(memcmp(y, wanted, sizeof y) == 0 && called == 1);
  OK(tutti_op_free(&op));
  OK(tutti_combine(inputs, 2, NULL, 0, TUTTI_INT32, TUTTI_SUM));
  FAILS(tutti_combine(NULL, 2, out, 3, TUTTI_INT32, TUTTI_SUM), TUTTI_ERROR_INVALID_ARGUMENT, "argument inputs");
  FAILS(tutti_combine(inputs, 0, out, 3, TUTTI_INT32, TUTTI_SUM), TUTTI_ERROR_INVALID_ARGUMENT, "argument inputs");
  FAILS(tutti_combine(inputs, 2, NULL, 3, TUTTI_INT32, TUTTI_SUM), TUTTI_ERROR_INVALID_ARGUMENT, "argument output");
  FAILS(tutti_combine(inputs, 2, out, 3, TUTTI_FLOAT32, TUTTI_BAND), TUTTI_ERROR_INVALID_OP, "band");
}

void test_operations(const struct group* g) {
  test_combine(g);
  test_built_in(g);
  test_location(g);
  test_scaled(g);
  test_user(g);
}
