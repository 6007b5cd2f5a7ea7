/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that are wrong on their own, or do not fit together. */
#include <stdio.h>

#include "misuse.h"

static const size_t four[] = {4, 4, 4, 4, 4, 4, 4, 4};
static const size_t far[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};

static int reduce_with(const struct place* p, const tutti_options_t* options) {
  const float a = 1;
  float b = 0;
  return tutti_allreduce(p->comm, &a, &b, 1, TUTTI_FLOAT32, TUTTI_SUM, options);
}

static int negative_timeout(const struct place* p) {
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.timeout = -1;
  return reduce_with(p, &options);
}

static int misspelt_algorithm(const struct place* p) {
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.algorithm = "rnig";
  return reduce_with(p, &options);
}

static int misspelt_backend(const struct place* p) {
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.algorithm = "mip:ring";
  return reduce_with(p, &options);
}

static int too_short_receive(const struct place* p) {
  float sent[8] = {0};
  float received[4] = {0};
  tutti_request_t request = TUTTI_REQUEST_NULL;
  must_succeed(tutti_isend(p->comm, sent, 8, TUTTI_FLOAT32, p->rank, 5, NULL, &request));
  const int code = tutti_recv(p->comm, received, 4, TUTTI_FLOAT32, p->rank, 5, NULL, NULL);
  char text[1024];
  snprintf(text, sizeof text, "%s", tutti_error_message());
  must_succeed(tutti_wait(&request, NULL));
  return tutti_error_set(code, text);
}

#define REDUCE(send, recv, count, type, op) tutti_allreduce(p->comm, send, recv, count, type, op, NULL)

USE(root_too_large, tutti_bcast(p->comm, a, 4, TUTTI_FLOAT32, p->size, NULL))
USE(negative_root, tutti_reduce(p->comm, a, b, 4, TUTTI_FLOAT32, TUTTI_SUM, -2, NULL))
USE(negative_count, tutti_bcast(p->comm, a, (size_t)-4, TUTTI_FLOAT32, 0, NULL))
USE(count_of_too_many, tutti_alltoall(p->comm, a, b, SIZE_MAX / 2, TUTTI_FLOAT32, NULL))
USE(unknown_datatype, tutti_bcast(p->comm, a, 4, 99, 0, NULL))
USE(no_datatype, tutti_send(p->comm, a, 4, TUTTI_DATATYPE_NULL, 0, 0, NULL))
USE(unknown_op, REDUCE(a, b, 4, TUTTI_FLOAT32, 99))
USE(no_op, REDUCE(a, b, 4, TUTTI_FLOAT32, TUTTI_OP_NULL))
USE(bits_of_floats, REDUCE(a, b, 4, TUTTI_FLOAT32, TUTTI_BAND))
USE(place_of_numbers, REDUCE(a, b, 4, TUTTI_INT32, TUTTI_MAXLOC))
USE(op_without_function, tutti_op_user(NULL, NULL, 1, &(tutti_op_t){0}))
USE(same_buffer, REDUCE(a, a, 4, TUTTI_FLOAT32, TUTTI_SUM))
USE(overlapping, REDUCE(a, a + 2, 4, TUTTI_FLOAT32, TUTTI_SUM))
USE(null_send, REDUCE(NULL, b, 4, TUTTI_FLOAT32, TUTTI_SUM))
USE(null_recv, REDUCE(a, NULL, 4, TUTTI_FLOAT32, TUTTI_SUM))
USE(recv_in_place, REDUCE(a, TUTTI_IN_PLACE, 4, TUTTI_FLOAT32, TUTTI_SUM))
USE(no_counts, tutti_allgatherv(p->comm, a, 4, b, NULL, NULL, TUTTI_FLOAT32, NULL))
USE(other_own_count, tutti_allgatherv(p->comm, a, 3, b, four, far, TUTTI_FLOAT32, NULL))
USE(dest_too_large, tutti_send(p->comm, a, 4, TUTTI_FLOAT32, p->size + 7, 0, NULL))
USE(negative_source, tutti_recv(p->comm, a, 4, TUTTI_FLOAT32, -77, 0, NULL, NULL))
USE(negative_tag, tutti_send(p->comm, a, 4, TUTTI_FLOAT32, 0, -7, NULL))
USE(tag_too_large, tutti_send(p->comm, a, 4, TUTTI_FLOAT32, 0, INT32_MAX, NULL))
USE(negative_color, tutti_comm_split(p->comm, -4, 0, &(tutti_comm_t){NULL}))
USE(options_of_zeros, reduce_with(p, &(tutti_options_t){0}))
USE(memory_of_no_kind, tutti_allocate(p->comm, 64, 77, &(void*){NULL}))

const struct misuse argument_misuses[] = {
    {"RootBehindTheLastRank",
     root_too_large,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument root",
     {"pass a rank from 0 to"},
     0},
    {"NegativeRoot", negative_root, TUTTI_ERROR_INVALID_ARGUMENT, "argument root", {"pass a rank from 0 to"}, 0},
    {"NegativeCount",
     negative_count,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument buffer",
     {"pass the count in elements"},
     0},
    {"CountOfTooMany",
     count_of_too_many,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument recv",
     {"pass the count in elements"},
     0},
    {"UnknownDatatype", unknown_datatype, TUTTI_ERROR_INVALID_DATATYPE, "argument datatype", {"pass a constant of"}, 0},
    {"NoDatatype", no_datatype, TUTTI_ERROR_INVALID_DATATYPE, "argument datatype", {"pass a constant of"}, 0},
    {"UnknownOperation", unknown_op, TUTTI_ERROR_INVALID_OP, "argument op", {"pass a constant of"}, 0},
    {"NoOperation", no_op, TUTTI_ERROR_INVALID_OP, "argument op", {"pass a constant of"}, 0},
    {"BitsOfFloats", bits_of_floats, TUTTI_ERROR_INVALID_OP, "argument op", {"choose another operation"}, 0},
    {"LocationOfNumbers", place_of_numbers, TUTTI_ERROR_INVALID_OP, "argument op", {"choose another operation"}, 0},
    {"OperationWithoutFunction",
     op_without_function,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument function",
     {"pass the function that combines"},
     0},
    {"SendIsRecv", same_buffer, TUTTI_ERROR_INVALID_ARGUMENT, "argument recv", {"pass in_place as send"}, 0},
    {"SendAndRecvShareElements",
     overlapping,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument recv",
     {"pass buffers that share no"},
     0},
    {"NullSend", null_send, TUTTI_ERROR_INVALID_ARGUMENT, "argument send", {"pass the buffer's address"}, 0},
    {"NullRecv", null_recv, TUTTI_ERROR_INVALID_ARGUMENT, "argument recv", {"pass the buffer's address"}, 0},
    {"RecvInPlace", recv_in_place, TUTTI_ERROR_INVALID_ARGUMENT, "argument recv", {"pass in_place as send"}, 0},
    {"NoCounts", no_counts, TUTTI_ERROR_INVALID_ARGUMENT, "argument recv_counts", {"pass 2", "pass 3"}, 0},
    {"CountOfThisRankDiffers", other_own_count, TUTTI_ERROR_INVALID_ARGUMENT, "argument send", {"pass 4"}, 0},
    {"DestBehindTheLastRank",
     dest_too_large,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument dest",
     {"pass a rank from 0 to"},
     0},
    {"NegativeSource", negative_source, TUTTI_ERROR_INVALID_ARGUMENT, "argument source", {"pass a rank from 0 to"}, 0},
    {"NegativeTag", negative_tag, TUTTI_ERROR_INVALID_ARGUMENT, "argument tag", {"pass a number from 0 to"}, 0},
    {"TagThatMpiHasNot", tag_too_large, TUTTI_ERROR_INVALID_ARGUMENT, "argument tag", {"pass a number from 0 to"}, 0},
    {"TooShortReceive", too_short_receive, TUTTI_ERROR_TRUNCATED, "buffer", {"pass a longer buffer"}, 0},
    {"NegativeColor",
     negative_color,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument color",
     {"pass a non-negative number"},
     0},
    {"OptionsOfZeros",
     options_of_zeros,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument options",
     {"initialise the struct with"},
     0},
    {"NegativeTimeout", negative_timeout, TUTTI_ERROR_INVALID_ARGUMENT, "timeout", {"pass 0 (none) to"}, 0},
    {"MisspeltAlgorithm", misspelt_algorithm, TUTTI_ERROR_INVALID_ALGORITHM, "rnig", {"choose one of"}, 0},
    {"MisspeltBackend", misspelt_backend, TUTTI_ERROR_INVALID_ALGORITHM, "mip", {"choose one of"}, 0},
    {"MemoryOfNoKind",
     memory_of_no_kind,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "kind",
     {"pass host, pinned, device or managed"},
     0},
    {0}};
