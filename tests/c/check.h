/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_C_CHECK_H
#define TUTTI_TESTS_C_CHECK_H

#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

/* The communicator that a test runs on. */
struct group {
  tutti_comm_t comm;
  int rank;
  int size;
};

enum { most_ranks = 8, block = 5, most = 64 };

extern int failures;

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++failures;                                                             \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

/* A call that must succeed. */
#define OK(call)                                                                                            \
  do {                                                                                                      \
    const int code_ = (call);                                                                               \
    if (code_ != TUTTI_SUCCESS) {                                                                           \
      ++failures;                                                                                           \
      fprintf(stderr, "%s:%d: %s: code %d: %s\n", __FILE__, __LINE__, #call, code_, tutti_error_message()); \
    }                                                                                                       \
  } while (0)

/* A call that must fail with a code and with a message that contains a text. */
#define FAILS(call, expected, text)                                                                             \
  do {                                                                                                          \
    const int code_ = (call);                                                                                   \
    if (code_ != (expected) || strstr(tutti_error_message(), text) == NULL) {                                   \
      ++failures;                                                                                               \
      fprintf(stderr, "%s:%d: %s: code %d, wanted %d: %s\n", __FILE__, __LINE__, #call, code_, (int)(expected), \
              tutti_error_message());                                                                           \
    }                                                                                                           \
  } while (0)

/* A collective in its three forms, with other data each time: blocking, nonblocking, and persistent started thrice. */
#define THREE_FORMS(fill, check, operation, ...)                \
  do {                                                          \
    tutti_request_t request_ = TUTTI_REQUEST_NULL;              \
    fill(0);                                                    \
    OK(tutti_##operation(__VA_ARGS__, NULL));                   \
    check(0);                                                   \
    fill(1);                                                    \
    OK(tutti_i##operation(__VA_ARGS__, NULL, &request_));       \
    OK(tutti_wait(&request_, NULL));                            \
    CHECK(request_ == TUTTI_REQUEST_NULL);                      \
    check(1);                                                   \
    OK(tutti_##operation##_init(__VA_ARGS__, NULL, &request_)); \
    for (int iteration_ = 2; iteration_ < 5; ++iteration_) {    \
      fill(iteration_);                                         \
      OK(tutti_start(&request_));                               \
      OK(tutti_wait(&request_, NULL));                          \
      check(iteration_);                                        \
    }                                                           \
    OK(tutti_request_free(&request_));                          \
    CHECK(request_ == TUTTI_REQUEST_NULL);                      \
  } while (0)

/* What a rank holds: no two ranks, indices or iterations hold the same. */
static inline int64_t value(int rank, size_t index, int iteration) {
  return 100000 * (rank + 1) + 100 * (int64_t)index + iteration;
}
static inline int64_t sum_of(int first, int end, size_t index, int iteration) {
  int64_t sum = 0;
  for (int r = first; r < end; ++r) sum += value(r, index, iteration);
  return sum;
}
/* Sizes of the v-forms: rank r has r + 1 elements, with a gap of one before each block. */
static inline size_t size_of_block(int rank) { return (size_t)rank + 1; }
static inline size_t place_of_block(int rank) {
  size_t place = 1;
  for (int r = 0; r < rank; ++r) place += size_of_block(r) + 1;
  return place;
}
static inline void clear(int64_t* data) {
  for (int i = 0; i < most; ++i) data[i] = -1;
}

#define REDUCTION_TESTS(X) \
  X(barrier)               \
  X(bcast)                 \
  X(reduce)                \
  X(allreduce)             \
  X(exact)                 \
  X(reduce_scatter)        \
  X(reduce_scatter_block)  \
  X(gather)                \
  X(gatherv)
#define MOVEMENT_TESTS(X) \
  X(scatter)              \
  X(scatterv)             \
  X(allgather)            \
  X(allgatherv)           \
  X(alltoall)             \
  X(alltoallv)            \
  X(neighborhood)         \
  X(scan)                 \
  X(exscan)
#define OTHER_TESTS(X) \
  X(point_to_point)    \
  X(groups)            \
  X(requests)          \
  X(operations)        \
  X(datatypes)         \
  X(options)           \
  X(communicator)      \
  X(stale_handles)     \
  X(memory)            \
  X(device)            \
  X(errors)
#if TUTTI_HAS_TRAINING
#define TRAINING_TESTS(X) \
  X(reducer)              \
  X(hooks)                \
  X(optimizers)           \
  X(server)               \
  X(embedding)
#else
#define TRAINING_TESTS(X)
#endif
#define TESTS(X)     \
  REDUCTION_TESTS(X) \
  MOVEMENT_TESTS(X)  \
  OTHER_TESTS(X)     \
  TRAINING_TESTS(X)
#define DECLARE(name) void test_##name(const struct group* g);
TESTS(DECLARE)
#undef DECLARE
void test_truncation(const struct group* g);

#endif
