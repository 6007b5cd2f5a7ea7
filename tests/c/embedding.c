/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { tables = 2, batch = 6, dim = 4, rows = 9 };

/* Row r of table t has t + r / 8 in every column. */
static void make_rows(int64_t begin, int64_t end, float* values, void* context) {
  const size_t table = *(const size_t*)context;
  for (int64_t r = begin; r < end; ++r)
    for (int d = 0; d < dim; ++d) values[(r - begin) * dim + d] = (float)table + (float)r / 8;
}

/* Rows on one node are dealt in cyclic order. */
static tutti_embedding_t make(const struct group* g, int sharding) {
  const int order = sharding == TUTTI_SHARDING_ROW_WISE_ON_NODE ? TUTTI_ROW_ORDER_CYCLIC : TUTTI_ROW_ORDER_AUTO;
  const tutti_embedding_table_t given[tables] = {
      {"first", rows, dim, TUTTI_FLOAT32, TUTTI_POOLING_SUM, sharding, 2, NULL, 0, order, NULL},
      {"second", rows, dim, TUTTI_FLOAT32, TUTTI_POOLING_SUM, TUTTI_SHARDING_AUTO, 2, NULL, 0, TUTTI_ROW_ORDER_AUTO,
       NULL}};
  tutti_embedding_options_t options = TUTTI_EMBEDDING_OPTIONS_INIT;
  options.max_batch = batch;
  tutti_embedding_t collection = TUTTI_EMBEDDING_NULL;
  OK(tutti_embedding_create(g->comm, given, tables, &options, &collection));
  return collection;
}

/* Sample s looks rows s and s + 1 up, in both tables; the first table's row r is then worth first + r / 8 each. */
static int64_t indices[2 * batch];
static int64_t offsets[batch + 1];

static int first_sample(const struct group* g) { return g->rank * batch / g->size; }

static void forward(const struct group* g, tutti_embedding_t collection, const float* grown, int layout) {
  /* Those of this rank's samples, where layout says so: offsets need not begin with 0. */
  const int64_t* from = offsets + (layout == TUTTI_INPUT_LOCAL ? first_sample(g) : 0);
  const tutti_bags_t given[tables] = {{indices, from, NULL}, {indices, from, NULL}};
  OK(tutti_embedding_start_forward(collection, 0, given, TUTTI_INT64, batch, layout, NULL));
  OK(tutti_embedding_progress(collection));
  OK(tutti_embedding_finish_forward(collection, 0));
  for (size_t t = 0; t < tables; ++t) {
    const float* data = NULL;
    size_t stride = 0, samples = 0;
    OK(tutti_embedding_vectors(collection, 0, t, &data, &stride, &samples));
    CHECK(samples == (size_t)((g->rank + 1) * batch / g->size - first_sample(g)) && stride >= dim);
    for (size_t s = 0; s < samples; ++s) {
      const int at = first_sample(g) + (int)s;
      const float expected = 2 * (float)t + (float)(2 * at + 1) / 8 + grown[at] + grown[at + 1];
      for (int d = 0; d < dim; ++d) CHECK(fabsf(data[s * stride + (size_t)d] - expected) < 1e-5f);
    }
  }
}

static void backward(tutti_embedding_t collection) {
  for (size_t t = 0; t < tables; ++t) {
    float* data = NULL;
    size_t stride = 0, samples = 0;
    OK(tutti_embedding_gradients(collection, 0, t, &data, &stride, &samples));
    for (size_t s = 0; s < samples; ++s)
      for (int d = 0; d < dim; ++d) data[s * stride + (size_t)d] = -1;
  }
  OK(tutti_embedding_start_backward(collection, 0));
  OK(tutti_embedding_finish_backward(collection, 0, 0.5));
}

/* The rows that this rank has, by shard. */
static void check_rows(const struct group* g, tutti_embedding_t collection, const float* grown) {
  tutti_table_shard_t shards[tables] = {{0}};
  size_t count = 0, more = 0;
  OK(tutti_embedding_shards(collection, shards, tables, &count));
  OK(tutti_embedding_shards(collection, NULL, 0, &more));
  CHECK(count == more && count <= tables);
  int64_t seen = 0;
  for (size_t i = 0; i < count; ++i) {
    const tutti_table_shard_t* shard = &shards[i];
    const size_t columns = shard->column_end - shard->column_begin;
    float values[rows * dim];
    const int64_t begin = shard->row_begin, step = shard->row_step;
    OK(tutti_embedding_read_rows(collection, i, begin, shard->row_end, values,
                                 (size_t)((shard->row_end - begin + step - 1) / step) * columns));
    for (int64_t r = begin; r < shard->row_end; r += step)
      for (size_t d = 0; d < columns; ++d, ++seen) {
        const float expected = (float)shard->table + (float)r / 8 + (r <= batch ? grown[r] : 0);
        CHECK(fabsf(values[(size_t)((r - begin) / step) * columns + d] - expected) < 1e-5f);
      }
    FAILS(tutti_embedding_read_rows(collection, i, shard->row_begin, shard->row_end + 1, values, rows * dim),
          TUTTI_ERROR_INVALID_ARGUMENT, "read_rows");
  }
  int sharding[tables] = {0}, replicas = 0;
  for (size_t t = 0; t < tables; ++t) {
    OK(tutti_embedding_sharding(collection, t, &sharding[t]));
    CHECK(sharding[t] > TUTTI_SHARDING_AUTO && sharding[t] <= TUTTI_SHARDING_ROW_WISE_ON_NODE);
    replicas += sharding[t] == TUTTI_SHARDING_DATA_PARALLEL ? g->size : 1;
  }
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &seen, 1, TUTTI_INT64, TUTTI_SUM, NULL));
  CHECK(seen == replicas * rows * dim);
}

/* Whether the folder has the part of rank 0 of a save, which are numbered from 1. */
static int has_part(const char* folder, int number) {
  char name[128] = "";
  snprintf(name, sizeof name, "%s/part-%d-0", folder, number);
  FILE* file = fopen(name, "rb");
  if (file == NULL) return 0;
  fclose(file);
  return 1;
}

/* Changed rows are added to what the folder has, whose parts stay. */
static void test_increment(const struct group* g, tutti_embedding_t collection, float* grown, const char* folder,
                           int sharding) {
  OK(tutti_embedding_save_incremental(collection, folder));
  int first = 1; /* earlier runs of this test have saved there, too */
  while (first < 1000000 && !has_part(folder, first)) ++first;
  forward(g, collection, grown, TUTTI_INPUT_LOCAL);
  backward(collection);
  for (int r = 0; r <= batch; ++r) grown[r] += r == 0 || r == batch ? 0.5f : 1.0f;
  if (sharding == TUTTI_SHARDING_TABLE_WISE) {
    OK(tutti_embedding_save_incremental(collection, folder));
  } else {
    OK(tutti_embedding_start_save_incremental(collection, folder));
    OK(tutti_embedding_finish_save(collection));
  }
  CHECK(has_part(folder, first));
  CHECK(has_part(folder, first + 1));
}

/* Every step adds 0.5 to a row for each sample that has it: rows 1 to batch - 1 occur twice. */
static void test_steps(const struct group* g, int sharding) {
  tutti_embedding_t collection = make(g, sharding);
  float grown[batch + 1] = {0};
  for (size_t t = 0; t < tables; ++t) OK(tutti_embedding_fill(collection, t, make_rows, &t));
  for (int step = 0; step < 3; ++step) {
    forward(g, collection, grown, step == 1 ? TUTTI_INPUT_LOCAL : TUTTI_INPUT_GLOBAL);
    backward(collection);
    for (int r = 0; r <= batch; ++r) grown[r] += r == 0 || r == batch ? 0.5f : 1.0f;
  }
  check_rows(g, collection, grown);
  char folder[96] = "";
  int first = 0; /* the world's rank of this group's first */
  MPI_Comm_rank(MPI_COMM_WORLD, &first);
  OK(tutti_bcast(g->comm, &first, 1, TUTTI_INT32, 0, NULL));
  int of_world = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &of_world);
  snprintf(folder, sizeof folder, "c_embedding/%d_%d_%d_%d", of_world, g->size, first, sharding);
  int done = 0;
  OK(tutti_embedding_test_save(collection, &done));
  CHECK(done == 1);
  if (sharding == TUTTI_SHARDING_ROW_WISE) {
    OK(tutti_embedding_start_save(collection, folder));
    OK(tutti_embedding_test_save(collection, &done));
    CHECK(done == 0);
    forward(g, collection, grown, TUTTI_INPUT_LOCAL);
    backward(collection);
    while (done == 0) OK(tutti_embedding_test_save(collection, &done));
    OK(tutti_embedding_start_save(collection, "/dev/null"));
    FAILS(tutti_embedding_finish_save(collection), TUTTI_ERROR_IO, "/dev/null");
    OK(tutti_embedding_finish_save(collection));
  } else if (sharding == TUTTI_SHARDING_AUTO) {
    OK(tutti_embedding_save(collection, folder));
  } else {
    test_increment(g, collection, grown, folder, sharding);
  }
  OK(tutti_embedding_free(&collection));
  collection = make(g, TUTTI_SHARDING_TABLE_WISE);
  OK(tutti_embedding_load(collection, folder));
  check_rows(g, collection, grown);
  forward(g, collection, grown, TUTTI_INPUT_LOCAL);
  OK(tutti_embedding_free(&collection));
  OK(tutti_barrier(g->comm, NULL));
}

/* Row r has 1 + r / 1000 in every column: no number of 8 bits, nor the sum of two rows. */
/* The plan of a table by rows, half of which are looked up as often as these shares say. */
static void plan_of(const struct group* g, const double* shares, size_t count, int order,
                    const tutti_row_frequencies_t* frequencies, char* text, size_t capacity) {
  const tutti_embedding_table_t table = {"t", rows,   dim,   TUTTI_FLOAT32, TUTTI_POOLING_SUM, TUTTI_SHARDING_ROW_WISE,
                                         2,   shares, count, order,         frequencies};
  tutti_embedding_options_t options = TUTTI_EMBEDDING_OPTIONS_INIT;
  options.max_batch = batch;
  tutti_embedding_t collection = TUTTI_EMBEDDING_NULL;
  OK(tutti_embedding_create(g->comm, &table, 1, &options, &collection));
  size_t length = 0;
  OK(tutti_embedding_plan(collection, text, capacity, &length));
  CHECK(length < capacity);
  OK(tutti_embedding_free(&collection));
}

/* Shares change the predicted lookups of ranks that have parts of a table, and its distinct rows. */
static void test_lookup_shares(const struct group* g) {
  const double shares[2] = {15, 1}, wrong[2] = {1, -1};
  char even[1024], skewed[1024];
  plan_of(g, NULL, 0, TUTTI_ROW_ORDER_AUTO, NULL, even, sizeof even);
  plan_of(g, shares, 2, TUTTI_ROW_ORDER_BLOCKS, NULL, skewed, sizeof skewed);
  CHECK(strcmp(even, skewed) != 0);
  const tutti_embedding_table_t table = {
      "t", rows, dim, TUTTI_FLOAT32, TUTTI_POOLING_SUM, TUTTI_SHARDING_AUTO, 2, wrong, 2, TUTTI_ROW_ORDER_AUTO, NULL};
  tutti_embedding_t collection = TUTTI_EMBEDDING_NULL;
  FAILS(tutti_embedding_create(g->comm, &table, 1, NULL, &collection), TUTTI_ERROR_INVALID_ARGUMENT,
        "lookup_shares of table 0 't'");
}

/* Two hot rows have three of four lookups of a batch: half of them where they are. */
static void test_frequencies(const struct group* g) {
  const int64_t hot_rows[2] = {0, 1};
  const double hot_lookups[2] = {60, 30}, bucket_rows[1] = {3}, bucket_lookups[1] = {30};
  tutti_row_frequencies_t frequencies = {hot_rows, hot_lookups, 2, bucket_rows, bucket_lookups, 1};
  char text[1024], other[1024];
  plan_of(g, NULL, 0, TUTTI_ROW_ORDER_CYCLIC, &frequencies, text, sizeof text);
  CHECK((strstr(text, " rows 1-") != NULL) == (g->size > 1));
  plan_of(g, NULL, 0, TUTTI_ROW_ORDER_CYCLIC, NULL, other, sizeof other);
  CHECK(strcmp(text, other) != 0);
  frequencies.hot_count = 3; /* row 0 again */
  const int64_t twice[3] = {0, 1, 0};
  const double counts[3] = {1, 1, 1};
  frequencies.hot_rows = twice;
  frequencies.hot_lookups = counts;
  const tutti_embedding_table_t table = {"t", rows, dim, TUTTI_FLOAT32,        TUTTI_POOLING_SUM, TUTTI_SHARDING_AUTO,
                                         2,   NULL, 0,   TUTTI_ROW_ORDER_AUTO, &frequencies};
  tutti_embedding_t collection = TUTTI_EMBEDDING_NULL;
  FAILS(tutti_embedding_create(g->comm, &table, 1, NULL, &collection), TUTTI_ERROR_INVALID_ARGUMENT,
        "frequencies of table 0 't' name a hot row twice");
}

static void make_long_rows(int64_t begin, int64_t end, float* values, void* context) {
  (void)context;
  for (int64_t r = begin; r < end; ++r)
    for (int d = 0; d < dim; ++d) values[(r - begin) * dim + d] = 1 + (float)r / 1000;
}

/* Tables in files: the options arrive, and a table is read and changed there. */
static void test_files(const struct group* g) {
  enum { many = 3000 };
  const tutti_embedding_table_t table = {
      "t", many, dim, TUTTI_FLOAT32, TUTTI_POOLING_SUM, TUTTI_SHARDING_TABLE_WISE, 2, NULL, 0, TUTTI_ROW_ORDER_AUTO,
      NULL};
  const tutti_bags_t bags = {indices, offsets, NULL};
  tutti_embedding_options_t options = TUTTI_EMBEDDING_OPTIONS_INIT;
  options.max_batch = batch;
  options.table_memory = 8192;
  tutti_embedding_t collection = TUTTI_EMBEDDING_NULL;
  FAILS(tutti_embedding_create(g->comm, &table, 1, &options, &collection), TUTTI_ERROR_INVALID_ARGUMENT,
        "table_folder is empty");
  options.table_folder = "/nonexistent";
  FAILS(tutti_embedding_create(g->comm, &table, 1, &options, &collection), TUTTI_ERROR_INVALID_ARGUMENT,
        "'/nonexistent' takes no file");
  const char* folder = getenv("TMPDIR");
  options.table_folder = folder != NULL ? folder : "/tmp";
  OK(tutti_embedding_create(g->comm, &table, 1, &options, &collection));
  OK(tutti_embedding_fill(collection, 0, make_long_rows, NULL));
  OK(tutti_embedding_start_forward(collection, 0, &bags, TUTTI_INT64, batch, TUTTI_INPUT_GLOBAL, NULL));
  OK(tutti_embedding_finish_forward(collection, 0));
  const float* data = NULL;
  size_t stride = 0, samples = 0;
  OK(tutti_embedding_vectors(collection, 0, 0, &data, &stride, &samples));
  for (size_t s = 0; s < samples; ++s) {
    const float expected = 2 + (float)(2 * (first_sample(g) + (int)s) + 1) / 1000;
    CHECK(fabsf(data[s * stride] - expected) < 1e-5f);
  }
  OK(tutti_embedding_free(&collection));
}

/* Vectors travel in 16 bits: they are close to the sums, and are not the sums where there are several ranks. */
static void test_exchange(const struct group* g) {
  const tutti_embedding_table_t table = {
      "t", rows, dim, TUTTI_FLOAT32, TUTTI_POOLING_SUM, TUTTI_SHARDING_TABLE_WISE, 2, NULL, 0, TUTTI_ROW_ORDER_AUTO,
      NULL};
  const tutti_bags_t bags = {indices, offsets, NULL};
  tutti_embedding_options_t options = TUTTI_EMBEDDING_OPTIONS_INIT;
  options.max_batch = batch;
  options.exchange_datatype = TUTTI_INT32;
  tutti_embedding_t collection = TUTTI_EMBEDDING_NULL;
  FAILS(tutti_embedding_create(g->comm, &table, 1, &options, &collection), TUTTI_ERROR_INVALID_ARGUMENT,
        "exchange_datatype is int32; pass TUTTI_FLOAT32, TUTTI_BFLOAT16 or TUTTI_FLOAT16");
  options.exchange_datatype = TUTTI_BFLOAT16;
  OK(tutti_embedding_create(g->comm, &table, 1, &options, &collection));
  OK(tutti_embedding_fill(collection, 0, make_long_rows, NULL));
  OK(tutti_embedding_start_forward(collection, 0, &bags, TUTTI_INT64, batch, TUTTI_INPUT_GLOBAL, NULL));
  OK(tutti_embedding_finish_forward(collection, 0));
  const float* data = NULL;
  size_t stride = 0, samples = 0;
  OK(tutti_embedding_vectors(collection, 0, 0, &data, &stride, &samples));
  for (size_t s = 0; s < samples; ++s) {
    const float error = fabsf(data[s * stride] - 2 - (float)(2 * (first_sample(g) + (int)s) + 1) / 1000);
    CHECK(error < 2.0f / 256 && (error > 1e-5f) == (g->size > 1));
  }
  OK(tutti_embedding_free(&collection));
}

static void test_refused(const struct group* g) {
  const tutti_bags_t bags[tables] = {{indices, offsets, NULL}, {indices, offsets, NULL}};
  tutti_embedding_t collection = make(g, TUTTI_SHARDING_AUTO);
  size_t length = 0, bytes = 0;
  int needs = 0;
  char text[8] = "";
  OK(tutti_embedding_initialize(collection));
  OK(tutti_embedding_plan(collection, text, sizeof text, &length));
  CHECK(length > 100 && strlen(text) == 7);
  OK(tutti_embedding_bytes(collection, &bytes));
  OK(tutti_embedding_needs(collection, 1, &needs));
  FAILS(tutti_embedding_needs(collection, 2, &needs), TUTTI_ERROR_INVALID_ARGUMENT, "argument table is 2");
  FAILS(tutti_embedding_start_forward(collection, 1, bags, TUTTI_INT64, batch, TUTTI_INPUT_GLOBAL, NULL),
        TUTTI_ERROR_INVALID_ARGUMENT, "argument slot is 1");
  FAILS(tutti_embedding_start_forward(collection, 0, bags, TUTTI_FLOAT32, batch, TUTTI_INPUT_GLOBAL, NULL),
        TUTTI_ERROR_INVALID_DATATYPE, "float32");
  FAILS(tutti_embedding_start_forward(collection, 0, bags, TUTTI_INT64, batch, 9, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "argument layout is 9");
  indices[0] = rows;
  FAILS(tutti_embedding_start_forward(collection, 0, bags, TUTTI_INT64, batch, TUTTI_INPUT_GLOBAL, NULL),
        TUTTI_ERROR_INDEX_OUT_OF_RANGE, "9");
  indices[0] = 0;
  /* What one rank finds wrong fails on all. */
  FAILS(tutti_embedding_start_forward(collection, 0, bags, TUTTI_INT64, batch, TUTTI_INPUT_GLOBAL,
                                      g->rank == g->size - 1 ? "a line of the file is cut" : NULL),
        TUTTI_ERROR_INVALID_ARGUMENT, "a line of the file is cut");
  FAILS(tutti_embedding_load(collection, "no such folder"), TUTTI_ERROR_IO, "no such folder");
  OK(tutti_embedding_free(&collection));
  FAILS(tutti_embedding_initialize(TUTTI_EMBEDDING_NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument collection");
  FAILS(tutti_embedding_create(g->comm, NULL, 1, NULL, &collection), TUTTI_ERROR_INVALID_ARGUMENT, "argument tables");
}

void test_embedding(const struct group* g) {
  for (int s = 0; s < batch; ++s) {
    indices[2 * s] = s;
    indices[2 * s + 1] = s + 1;
    offsets[s + 1] = 2 * s + 2;
  }
  for (int sharding = TUTTI_SHARDING_AUTO; sharding <= TUTTI_SHARDING_ROW_WISE_ON_NODE; ++sharding)
    test_steps(g, sharding);
  test_files(g);
  test_exchange(g);
  test_lookup_shares(g);
  test_frequencies(g);
  test_refused(g);
}
