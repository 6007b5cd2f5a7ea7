/* SPDX-License-Identifier: BSD-3-Clause */
/* What does not need a GPU: declared memory kinds, streams beside host buffers, preparation, the report. */
#include <stdlib.h>

#include "check.h"
#include "every_collective.h"

static void fill(const struct group* g, enum collective which, int64_t* in, int64_t* out) {
  for (size_t i = 0; i < every_count(g->size); ++i) {
    in[i] = every_given(g->rank, i);
    out[i] = which == every_bcast ? in[i] : -1;
  }
}

static void check_results(const struct group* g, enum collective which, enum form form, const int64_t* out) {
  int wrong = 0;
  for (size_t i = 0; i < every_count(g->size); ++i) wrong += out[i] != every_expected(which, g->rank, g->size, i);
  if (wrong == 0) return;
  ++failures;
  fprintf(stderr, "rank %d: %s, form %d: %d wrong\n", g->rank, every_name(which), (int)form, wrong);
}

/* One call, ended by a wait on the stream of the options. */
static void run(const struct group* g, enum collective which, enum form form, const tutti_options_t* options) {
  int64_t in[most];
  int64_t out[most];
  tutti_request_t request = TUTTI_REQUEST_NULL;
  fill(g, which, in, out);
  OK(every_call(which, form, g->comm, in, out, options, &request));
  if (form == persistent) OK(tutti_start(&request));
  if (form != blocking) OK(tutti_wait_on_stream(&request, options->stream_kind, options->stream));
  check_results(g, which, form, out);
  OK(tutti_request_free(&request));
}

/* Host memory, declared or not: a stream beside it, even none that exists, changes nothing. */
static void test_host(const struct group* g) {
  int nothing = 0;
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.memory = TUTTI_MEMORY_HOST;
  for (int which = 0; which < collectives; ++which)
    for (int form = 0; form < forms; ++form) run(g, (enum collective)which, (enum form)form, &options);
  options.stream_kind = TUTTI_STREAM_CUDA;
  options.stream = &nothing;
  for (int which = 0; which < collectives; ++which)
    for (int form = 0; form < forms; ++form) run(g, (enum collective)which, (enum form)form, &options);
  options.memory = TUTTI_MEMORY_PINNED;
  run(g, every_allreduce, nonblocking, &options);
}

static void test_messages_on_host(const struct group* g) {
  int64_t in = value(g->rank, 0, 0);
  int64_t out = -1;
  int nothing = 0;
  const int next = (g->rank + 1) % g->size;
  const int last = (g->rank + g->size - 1) % g->size;
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.memory = TUTTI_MEMORY_HOST;
  options.stream_kind = TUTTI_STREAM_CUDA;
  options.stream = &nothing;
  OK(tutti_sendrecv(g->comm, &in, 1, TUTTI_INT64, next, 1, &out, 1, TUTTI_INT64, last, 1, &options, NULL));
  CHECK(out == value(last, 0, 0));
  tutti_group_t group = TUTTI_GROUP_NULL;
  out = -1;
  OK(tutti_group_create(g->comm, &options, &group));
  OK(tutti_group_send(group, &in, 1, TUTTI_INT64, next, 2));
  OK(tutti_group_recv(group, &out, 1, TUTTI_INT64, last, 2));
  OK(tutti_group_run(group));
  CHECK(out == value(last, 0, 0));
  OK(tutti_group_free(&group));
}

static void test_refused_messages(const struct group* g, const tutti_options_t* device) {
  int64_t x = 5;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  const int self = g->rank;
  const char* remedy = "host memory";
  FAILS(tutti_send(g->comm, &x, 1, TUTTI_INT64, self, 1, device), TUTTI_ERROR_NOT_BUILT, remedy);
  FAILS(tutti_recv(g->comm, &x, 1, TUTTI_INT64, self, 1, device, NULL), TUTTI_ERROR_NOT_BUILT, remedy);
  FAILS(tutti_sendrecv(g->comm, &x, 1, TUTTI_INT64, self, 1, &x, 1, TUTTI_INT64, self, 1, device, NULL),
        TUTTI_ERROR_NOT_BUILT, remedy);
  FAILS(tutti_isend(g->comm, &x, 1, TUTTI_INT64, self, 1, device, &request), TUTTI_ERROR_NOT_BUILT, remedy);
  FAILS(tutti_irecv(g->comm, &x, 1, TUTTI_INT64, self, 1, device, &request), TUTTI_ERROR_NOT_BUILT, remedy);
  CHECK(request == TUTTI_REQUEST_NULL && x == 5);
}

/* A group may refuse a message when it is added, or all when it is run; afterwards it can be used again. */
static void test_refused_group(const struct group* g, const tutti_options_t* device) {
  int64_t x = 5;
  tutti_group_t group = TUTTI_GROUP_NULL;
  OK(tutti_group_create(g->comm, device, &group));
  int code = tutti_group_send(group, &x, 1, TUTTI_INT64, g->rank, 1);
  if (code == TUTTI_SUCCESS) code = tutti_group_recv(group, &x, 1, TUTTI_INT64, g->rank, 1);
  if (code == TUTTI_SUCCESS) code = tutti_group_run(group);
  CHECK(code == TUTTI_ERROR_NOT_BUILT && strstr(tutti_error_message(), "host memory") != NULL);
  OK(tutti_group_free(&group));
}

/* Declared device memory in a library without CUDA: refused on every rank, with the remedy; an operation that is under
 * way ends, buffers keep what they have, and calls on host memory go on. */
static void test_not_built(const struct group* g) {
  int64_t in[most];
  int64_t out[most];
  int64_t other = g->rank;
  tutti_request_t under_way = TUTTI_REQUEST_NULL;
  OK(tutti_iallreduce(g->comm, TUTTI_IN_PLACE, &other, 1, TUTTI_INT64, TUTTI_SUM, NULL, &under_way));
  for (int kind = TUTTI_MEMORY_DEVICE; kind <= TUTTI_MEMORY_MANAGED; ++kind) {
    tutti_options_t options = TUTTI_OPTIONS_INIT;
    options.memory = kind;
    for (int which = 0; which < collectives; ++which) {
      fill(g, (enum collective)which, in, out);
      for (int form = 0; form < forms; ++form) {
        tutti_request_t request = under_way;
        FAILS(every_call((enum collective)which, (enum form)form, g->comm, in, out, &options, &request),
              TUTTI_ERROR_NOT_BUILT, "TUTTI_ENABLE_CUDA=ON");
        CHECK(form == blocking || request == TUTTI_REQUEST_NULL);
      }
      for (size_t i = 0; i < every_count(g->size); ++i) CHECK(out[i] == (which == every_bcast ? in[i] : -1));
    }
    void* data = &other;
    FAILS(tutti_allocate(g->comm, 64, kind, &data), TUTTI_ERROR_NOT_BUILT, "memory");
    CHECK(data == NULL);
    test_refused_messages(g, &options);
    test_refused_group(g, &options);
  }
  OK(tutti_wait(&under_way, NULL));
  CHECK(other == (int64_t)g->size * (g->size - 1) / 2);
}

#if TUTTI_HAS_TRAINING
/* What trains in device memory has its options too. */
static void test_training(const struct group* g) {
  int nothing = 0;
  tutti_reducer_t reducer = TUTTI_REDUCER_NULL;
  tutti_reducer_options_t options = TUTTI_REDUCER_OPTIONS_INIT;
  options.memory = TUTTI_MEMORY_PINNED;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "memory");
  options.memory = TUTTI_MEMORY_DEVICE;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "stream");
  options.stream_kind = 9;
  FAILS(tutti_reducer_create(g->comm, &options, &reducer), TUTTI_ERROR_INVALID_ARGUMENT, "member stream_kind");
  CHECK(reducer == TUTTI_REDUCER_NULL);
  options.stream_kind = TUTTI_STREAM_CUDA;
  options.stream = &nothing;
  OK(tutti_reducer_create(g->comm, &options, &reducer));
  FAILS(tutti_reducer_prepare(reducer), TUTTI_ERROR_NOT_BUILT, "TUTTI_ENABLE_CUDA=ON");
  OK(tutti_reducer_free(&reducer));
  tutti_embedding_t tables = TUTTI_EMBEDDING_NULL;
  const tutti_embedding_table_t table = {
      "t", 8, 4, TUTTI_FLOAT32, TUTTI_POOLING_SUM, TUTTI_SHARDING_AUTO, 1.0, NULL, 0, TUTTI_ROW_ORDER_AUTO, NULL};
  tutti_embedding_options_t rows = TUTTI_EMBEDDING_OPTIONS_INIT;
  rows.memory = TUTTI_MEMORY_DEVICE;
  rows.stream_kind = TUTTI_STREAM_CUDA;
  rows.stream = &nothing;
  FAILS(tutti_embedding_create(g->comm, &table, 1, &rows, &tables), TUTTI_ERROR_NOT_BUILT, "CUDA");
  rows.memory = TUTTI_MEMORY_MANAGED;
  FAILS(tutti_embedding_create(g->comm, &table, 1, &rows, &tables), TUTTI_ERROR_INVALID_ARGUMENT, "managed");
  CHECK(tables == TUTTI_EMBEDDING_NULL);
}
#endif

static void test_preparation(const struct group* g) {
  FAILS(tutti_comm_prepare_device(TUTTI_COMM_NULL), TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
  const int code = tutti_comm_prepare_device(g->comm);
  int least = code;
  int most_code = code;
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &least, 1, TUTTI_INT32, TUTTI_MIN, NULL));
  OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, &most_code, 1, TUTTI_INT32, TUTTI_MAX, NULL));
  CHECK(least == code && most_code == code);
  if (code == TUTTI_SUCCESS) return;
  FAILS(tutti_comm_prepare_device(g->comm), code, "device");
  CHECK(code == TUTTI_ERROR_NOT_BUILT || code == TUTTI_ERROR_MISMATCH);
  if (code != TUTTI_ERROR_NOT_BUILT) return;
  FAILS(tutti_comm_prepare_device(g->comm), code, "TUTTI_ENABLE_CUDA=ON");
  test_not_built(g);
#if TUTTI_HAS_TRAINING
  test_training(g);
#endif
}

static void test_report(const struct group* g) {
  size_t length = 0;
  OK(tutti_comm_device_report(g->comm, NULL, 0, &length));
  CHECK(length > 0);
  char* text = malloc(length + 1);
  CHECK(text != NULL);
  if (text == NULL) return;
  memset(text, 'x', length + 1);
  OK(tutti_comm_device_report(g->comm, text, length + 1, &length));
  CHECK(strlen(text) == length);
  char cut[5] = "xxxx";
  OK(tutti_comm_device_report(g->comm, cut, sizeof cut, &length));
  CHECK(strlen(cut) == 4 && strncmp(cut, text, 4) == 0 && length == strlen(text));
  free(text);
  FAILS(tutti_comm_device_report(g->comm, NULL, 8, &length), TUTTI_ERROR_INVALID_ARGUMENT, "argument text");
  FAILS(tutti_comm_device_report(g->comm, cut, 4, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument length");
  FAILS(tutti_comm_device_report(TUTTI_COMM_NULL, cut, 4, &length), TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm");
}

static int enqueue_nothing(void* context) {
  ++*(int*)context;
  return TUTTI_SUCCESS;
}

/* The device itself, in a library without CUDA: questions have answers, and what needs CUDA says so. */
static void test_without_cuda(void) {
  char text[256] = "";
  size_t length = 0;
  int number = -1;
  void* data = text;
  int called = 0;
  tutti_device_graph_t graph = TUTTI_DEVICE_GRAPH_NULL;
  OK(tutti_why_no_device(text, sizeof text, &length));
  CHECK(length == strlen(text));
  if (strstr(text, "TUTTI_ENABLE_CUDA") == NULL) return;
  OK(tutti_device_count(&number));
  CHECK(number == 0);
  FAILS(tutti_current_device(&number), TUTTI_ERROR_NOT_BUILT, "TUTTI_ENABLE_CUDA");
  FAILS(tutti_set_current_device(0), TUTTI_ERROR_NOT_BUILT, "TUTTI_ENABLE_CUDA");
  FAILS(tutti_stream_wait(TUTTI_STREAM_CUDA, NULL), TUTTI_ERROR_NOT_BUILT, "TUTTI_ENABLE_CUDA");
  FAILS(tutti_device_allocate(TUTTI_MEMORY_DEVICE, 64, &data), TUTTI_ERROR_NOT_BUILT, "TUTTI_ENABLE_CUDA");
  CHECK(data == NULL);
  FAILS(tutti_device_graph_capture(TUTTI_STREAM_CUDA, NULL, enqueue_nothing, &called, &graph), TUTTI_ERROR_NOT_BUILT,
        "TUTTI_ENABLE_CUDA");
  CHECK(graph == TUTTI_DEVICE_GRAPH_NULL && called == 0);
}

static void test_device_arguments(void) {
  int number = 0;
  void* data = NULL;
  tutti_device_graph_t graph = TUTTI_DEVICE_GRAPH_NULL;
  OK(tutti_stream_is_idle(TUTTI_STREAM_NONE, NULL, &number));
  CHECK(number == 1);
  OK(tutti_stream_wait(TUTTI_STREAM_NONE, NULL));
  OK(tutti_device_graph_free(&graph));
  FAILS(tutti_device_count(NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument count");
  FAILS(tutti_stream_is_idle(7, NULL, &number), TUTTI_ERROR_INVALID_ARGUMENT, "argument stream_kind");
  FAILS(tutti_stream_is_idle(TUTTI_STREAM_NONE, NULL, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument idle");
  FAILS(tutti_stream_wait(7, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument stream_kind");
  FAILS(tutti_device_allocate(TUTTI_MEMORY_HOST, 64, &data), TUTTI_ERROR_INVALID_ARGUMENT, "argument memory_kind");
  FAILS(tutti_device_allocate(TUTTI_MEMORY_PINNED, 64, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument data");
  FAILS(tutti_device_graph_capture(TUTTI_STREAM_CUDA, NULL, NULL, NULL, &graph), TUTTI_ERROR_INVALID_ARGUMENT,
        "argument enqueue");
  FAILS(tutti_device_graph_launch(graph, TUTTI_STREAM_CUDA, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument graph");
}

static void test_wrong_arguments(const struct group* g) {
  int64_t x = 0;
  int kind = -1;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  OK(tutti_memory_kind(&x, &kind));
  CHECK(kind == TUTTI_MEMORY_HOST);
  FAILS(tutti_memory_kind(&x, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument kind");
  tutti_options_t wrong = TUTTI_OPTIONS_INIT;
  wrong.stream_kind = 7;
  FAILS(every_call(every_allreduce, blocking, g->comm, &x, &x, &wrong, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "member stream_kind");
  FAILS(tutti_wait_on_stream(&request, 7, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument stream_kind");
  FAILS(tutti_wait_on_stream(NULL, TUTTI_STREAM_CUDA, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument request");
  OK(tutti_wait_on_stream(&request, TUTTI_STREAM_CUDA, NULL));
  int done = 0;
  FAILS(tutti_test_on_stream(&request, &done, 7, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "argument stream_kind");
  OK(tutti_test_on_stream(&request, &done, TUTTI_STREAM_CUDA, NULL));
  CHECK(done == 1);
  x = g->rank;
  OK(tutti_iallreduce(g->comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, NULL, &request));
  for (done = 0; !done;) OK(tutti_test_on_stream(&request, &done, TUTTI_STREAM_CUDA, NULL));
  CHECK(request == TUTTI_REQUEST_NULL && x == (int64_t)g->size * (g->size - 1) / 2);
}

void test_device(const struct group* g) {
  test_host(g);
  test_messages_on_host(g);
  test_preparation(g);
  test_report(g);
  test_without_cuda();
  test_device_arguments();
  test_wrong_arguments(g);
  test_host(g);
}
