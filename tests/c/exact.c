/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums whose parts cancel, so that any rounding before the end would show. */
#include <math.h>

#include "check.h"

enum { length = 40, all_fields = 2 };

static int rank, size;
static double values[all_fields * length], weights[length], results[all_fields];
static int32_t mask[length];

/* Field 0: large numbers that cancel over the ranks, and one small number a rank. Field 1: small whole numbers. */
static void fill(int iteration) {
  const double sign = rank % 2 == 0 ? 1 : -1;
  for (int i = 0; i < length; ++i) {
    values[i] = i == 0 ? 1 + iteration : sign * (rank / 2 * 2 + 1 < size ? ldexp(1, 60 + i) : 0);
    values[length + i] = rank + i + iteration;
    weights[i] = i % 2 == 0 ? 0.5 : 2;
    mask[i] = i % 4 == 0;
  }
  results[0] = results[1] = -1;
}

/* The sums over all ranks of field 1, of every step-th element. */
static double whole(int iteration, int step) {
  double sum = 0;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < length; i += step) sum += r + i + iteration;
  return sum;
}

static void check(int iteration) {
  CHECK(results[0] == size * (1.0 + iteration));
  CHECK(results[1] == whole(iteration, 1));
}
static double sum_of_squares(int iteration) {
  double sum = 0;
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < length; ++i) sum += (double)(r + i + iteration) * (r + i + iteration);
  return sum;
}
static void check_squares(int iteration) { CHECK(results[0] == sum_of_squares(iteration)); }
static void check_root(int iteration) { CHECK(results[0] == sqrt(sum_of_squares(iteration))); }

static tutti_exact_terms_t both_fields(void) {
  tutti_exact_terms_t terms = TUTTI_EXACT_TERMS_INIT;
  terms.values = values;
  terms.count = all_fields * length;
  terms.datatype = TUTTI_FLOAT64;
  return terms;
}

static void test_weights_and_masks(const struct group* g) {
  tutti_exact_terms_t terms = both_fields();
  terms.mask = mask;
  terms.mask_count = length;
  terms.mask_datatype = TUTTI_INT32;
  fill(3);
  OK(tutti_exact_sum(g->comm, &terms, results, all_fields, TUTTI_FLOAT64, NULL));
  CHECK(results[1] == whole(3, 4));
  terms.weights = weights;
  terms.weight_count = length;
  terms.weight_datatype = TUTTI_FLOAT64;
  OK(tutti_exact_sum(g->comm, &terms, results, all_fields, TUTTI_FLOAT64, NULL));
  CHECK(results[1] == 0.5 * whole(3, 4));
  float narrow[all_fields];
  OK(tutti_exact_mean(g->comm, &terms, narrow, all_fields, TUTTI_FLOAT32, NULL));
  CHECK(narrow[1] == (float)(whole(3, 4) / (size * (length / 4))));
}

static void test_moments(const struct group* g) {
  const double own[4] = {1, 3, 1, 3};
  double mean = 0, variance = 0;
  tutti_exact_terms_t terms = TUTTI_EXACT_TERMS_INIT;
  terms.values = own;
  terms.count = rank == 0 ? 0 : 4;
  terms.datatype = TUTTI_FLOAT64;
  OK(tutti_exact_variance(g->comm, &terms, &mean, &variance, 1, NULL));
  CHECK(size == 1 ? mean != mean : mean == 2 && variance == 1);
  double value = 0;
  int64_t index = 0;
  terms.count = 4;
  OK(tutti_exact_minloc(g->comm, &terms, 100 - 4 * rank, &value, &index, NULL));
  CHECK(value == 1 && index == 100 - 4 * (size - 1));
  OK(tutti_exact_maxloc(g->comm, &terms, 4 * rank, &value, &index, NULL));
  CHECK(value == 3 && index == 1);
}

/* Columns of a matrix in C's order. */
static void test_strides(const struct group* g) {
  tutti_datatype_t columns = TUTTI_DATATYPE_NULL;
  OK(tutti_datatype_strided(2, (size_t[]){all_fields, length}, (ptrdiff_t[]){1, all_fields}, TUTTI_FLOAT64, &columns));
  double matrix[length * all_fields];
  fill(7);
  for (int i = 0; i < length; ++i)
    for (int f = 0; f < all_fields; ++f) matrix[i * all_fields + f] = values[f * length + i];
  tutti_exact_terms_t terms = both_fields();
  terms.values = matrix;
  terms.count = 1;
  terms.datatype = columns;
  OK(tutti_exact_sum(g->comm, &terms, results, all_fields, TUTTI_FLOAT64, NULL));
  check(7);
  OK(tutti_datatype_free(&columns));
}

static void test_accumulators(const struct group* g) {
  tutti_accumulator_t sums[2];
  tutti_exact_terms_t terms = both_fields();
  fill(2);
  terms.count = length / 2;
  OK(tutti_accumulator_clear(&sums[0]));
  OK(tutti_accumulator_clear(&sums[1]));
  OK(tutti_accumulator_add(&sums[0], &terms));
  terms.values = values + length / 2;
  OK(tutti_accumulator_add(&sums[1], &terms));
  OK(tutti_accumulator_join(&sums[0], &sums[1]));
  OK(tutti_accumulator_allreduce(g->comm, sums, 2, NULL));
  OK(tutti_accumulator_round(&sums[0], TUTTI_FLOAT64, &results[0]));
  CHECK(results[0] == size * 3.0);
  FAILS(tutti_accumulator_round(&sums[0], TUTTI_INT8, &results[0]), TUTTI_ERROR_INVALID_DATATYPE, "kind");
}

static void test_wrong_terms(const struct group* g) {
  tutti_exact_terms_t terms = both_fields();
  tutti_request_t request = TUTTI_REQUEST_NULL;
  FAILS(tutti_exact_sum(g->comm, &terms, results, 3, TUTTI_FLOAT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "do not divide");
  FAILS(tutti_exact_sum(g->comm, NULL, results, 1, TUTTI_FLOAT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "terms");
  FAILS(tutti_iexact_dot(g->comm, &terms, NULL, results, 1, TUTTI_FLOAT64, NULL, &request),
        TUTTI_ERROR_INVALID_ARGUMENT, "argument y");
  CHECK(request == TUTTI_REQUEST_NULL);
  terms.version = 99;
  FAILS(tutti_exact_norm2(g->comm, &terms, results, 1, TUTTI_FLOAT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "version");
  FAILS(tutti_accumulator_clear(NULL), TUTTI_ERROR_INVALID_ARGUMENT, "accumulator");
}

/* 1 of each rank between the first and the last, whose numbers cancel: lost to any rounding before the end. */
static void test_accumulation(const struct group* g) {
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.accumulation = TUTTI_ACCUMULATION_EXACT;
  double x = rank == 0 ? 0x1p60 : rank == size - 1 ? -0x1p60 : 1;
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_FLOAT64, TUTTI_SUM, &options));
  CHECK(x == (size == 1 ? 0x1p60 : size - 2));
  options.algorithm = "ring";
  if (size > 1)
    FAILS(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_FLOAT64, TUTTI_SUM, &options),
          TUTTI_ERROR_INVALID_ALGORITHM, "one rounding");
  options.accumulation = TUTTI_ACCUMULATION_EXACT + 1;
  FAILS(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_FLOAT64, TUTTI_SUM, &options),
        TUTTI_ERROR_INVALID_ARGUMENT, "accumulation");
}

void test_exact(const struct group* g) {
  rank = g->rank;
  size = g->size;
  tutti_exact_terms_t terms = both_fields();
  THREE_FORMS(fill, check, exact_sum, g->comm, &terms, results, all_fields, TUTTI_FLOAT64);
  terms.values = values + length;
  terms.count = length;
  THREE_FORMS(fill, check_squares, exact_dot, g->comm, &terms, values + length, results, 1, TUTTI_FLOAT64);
  THREE_FORMS(fill, check_root, exact_norm2, g->comm, &terms, results, 1, TUTTI_FLOAT64);
  test_weights_and_masks(g);
  test_moments(g);
  test_strides(g);
  test_accumulators(g);
  test_wrong_terms(g);
  test_accumulation(g);
}
