/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles that are null, of another kind, or freed before. */
#include <stdio.h>

#include "misuse.h"

static const char set_copies[] = "set every copy of a handle to NULL when you free it";

static tutti_comm_t freed_comm(void) {
  tutti_comm_t comm = TUTTI_COMM_NULL;
  must_succeed(tutti_comm_duplicate(MPI_COMM_SELF, &comm));
  const tutti_comm_t copy = comm;
  must_succeed(tutti_comm_free(&comm));
  return copy;
}

static tutti_request_t completed_request(const struct place* p) {
  tutti_request_t request = TUTTI_REQUEST_NULL;
  must_succeed(tutti_ibarrier(p->comm, NULL, &request));
  const tutti_request_t copy = request;
  must_succeed(tutti_wait(&request, NULL));
  return copy;
}

static tutti_request_t freed_request(const struct place* p) {
  tutti_request_t request = TUTTI_REQUEST_NULL;
  must_succeed(tutti_barrier_init(p->comm, NULL, &request));
  const tutti_request_t copy = request;
  must_succeed(tutti_request_free(&request));
  return copy;
}

static tutti_group_t freed_group(const struct place* p) {
  tutti_group_t group = TUTTI_GROUP_NULL;
  must_succeed(tutti_group_create(p->comm, NULL, &group));
  const tutti_group_t copy = group;
  must_succeed(tutti_group_free(&group));
  return copy;
}

static tutti_datatype_t freed_datatype(void) {
  tutti_datatype_t type = TUTTI_DATATYPE_NULL;
  must_succeed(tutti_datatype_vector(2, 1, 2, TUTTI_FLOAT32, &type));
  const tutti_datatype_t copy = type;
  must_succeed(tutti_datatype_free(&type));
  return copy;
}

static tutti_op_t freed_op(void) {
  tutti_op_t op = TUTTI_OP_NULL;
  must_succeed(tutti_op_premul_sum(2.0, &op));
  const tutti_op_t copy = op;
  must_succeed(tutti_op_free(&op));
  return copy;
}

static int start_of_a_nonblocking_call(const struct place* p) {
  tutti_request_t request = TUTTI_REQUEST_NULL;
  must_succeed(tutti_ibarrier(p->comm, NULL, &request));
  const int code = tutti_start(&request);
  char text[1024];
  snprintf(text, sizeof text, "%s", tutti_error_message());
  must_succeed(tutti_wait(&request, NULL));
  return tutti_error_set(code, text);
}

static int start_while_active(const struct place* p) {
  float x = 0;
  tutti_request_t request = TUTTI_REQUEST_NULL;
  must_succeed(tutti_recv_init(p->comm, &x, 1, TUTTI_FLOAT32, p->rank, 3, NULL, &request));
  must_succeed(tutti_start(&request));
  const int code = tutti_start(&request);
  char text[1024];
  snprintf(text, sizeof text, "%s", tutti_error_message());
  must_succeed(tutti_send(p->comm, &x, 1, TUTTI_FLOAT32, p->rank, 3, NULL));
  must_succeed(tutti_wait(&request, NULL));
  must_succeed(tutti_request_free(&request));
  return tutti_error_set(code, text);
}

static int memory_freed_twice(const struct place* p) {
  void* data = NULL;
  must_succeed(tutti_allocate(p->comm, 64, TUTTI_MEMORY_HOST, &data));
  must_succeed(tutti_deallocate(data));
  return tutti_deallocate(data);
}

USE(null_comm, tutti_allreduce(TUTTI_COMM_NULL, a, b, 4, TUTTI_FLOAT32, TUTTI_SUM, NULL))
USE(call_on_freed_comm, tutti_allreduce(freed_comm(), a, b, 4, TUTTI_FLOAT32, TUTTI_SUM, NULL))
USE(comm_freed_twice, tutti_comm_free(&(tutti_comm_t){freed_comm()}))
USE(garbage_comm, tutti_barrier((tutti_comm_t)(uintptr_t)a, NULL))
USE(no_mpi_comm, tutti_comm_duplicate(MPI_COMM_NULL, &(tutti_comm_t){NULL}))
USE(no_place_for_a_comm, tutti_comm_split(p->comm, 0, 0, NULL))
USE(wait_for_completed, tutti_wait(&(tutti_request_t){completed_request(p)}, NULL))
USE(start_of_null, tutti_start(&(tutti_request_t){TUTTI_REQUEST_NULL}))
USE(start_of_freed, tutti_start(&(tutti_request_t){freed_request(p)}))
USE(request_freed_twice, tutti_request_free(&(tutti_request_t){freed_request(p)}))
USE(comm_as_request, tutti_wait(&(tutti_request_t){(tutti_request_t)(void*)p->comm}, NULL))
USE(no_place_for_a_request, tutti_ibarrier(p->comm, NULL, NULL))
USE(null_group, tutti_group_run(TUTTI_GROUP_NULL))
USE(run_of_freed_group, tutti_group_run(freed_group(p)))
USE(send_of_freed_datatype, tutti_send(p->comm, a, 1, freed_datatype(), p->rank, 0, NULL))
USE(datatype_freed_twice, tutti_datatype_free(&(tutti_datatype_t){freed_datatype()}))
USE(reduction_by_freed_op, tutti_allreduce(p->comm, a, b, 4, TUTTI_FLOAT32, freed_op(), NULL))
USE(op_freed_twice, tutti_op_free(&(tutti_op_t){freed_op()}))
#if TUTTI_HAS_TRAINING
USE(null_reducer, tutti_reducer_wait(TUTTI_REDUCER_NULL))
#endif

const struct misuse handle_misuses[] = {
    {"NullCommunicator",
     null_comm,
     TUTTI_ERROR_INVALID_COMMUNICATOR,
     "argument comm",
     {"create it with tutti_comm_"},
     0},
    {"FreedCommunicator", call_on_freed_comm, TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm", {set_copies}, 0},
    {"CommunicatorFreedTwice", comm_freed_twice, TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm", {set_copies}, 0},
    {"AddressAsCommunicator", garbage_comm, TUTTI_ERROR_INVALID_COMMUNICATOR, "argument comm", {set_copies}, 0},
    {"NoMpiCommunicator",
     no_mpi_comm,
     TUTTI_ERROR_INVALID_COMMUNICATOR,
     "argument comm",
     {"pass a communicator that"},
     0},
    {"NoPlaceForACommunicator",
     no_place_for_a_comm,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument part",
     {"pass the address"},
     0},
    {"WaitForACompletedRequest", wait_for_completed, TUTTI_ERROR_INVALID_REQUEST, "argument request", {set_copies}, 0},
    {"StartOfNull", start_of_null, TUTTI_ERROR_INVALID_REQUEST, "argument request", {"pass a request made by"}, 0},
    {"StartOfAFreedRequest", start_of_freed, TUTTI_ERROR_INVALID_REQUEST, "argument request", {set_copies}, 0},
    {"StartOfANonblockingCall",
     start_of_a_nonblocking_call,
     TUTTI_ERROR_INVALID_REQUEST,
     "the request",
     {"start only requests of an _init call"},
     0},
    {"StartWhileActive",
     start_while_active,
     TUTTI_ERROR_INVALID_REQUEST,
     "persistent",
     {"wait for it before starting"},
     0},
    {"RequestFreedTwice", request_freed_twice, TUTTI_ERROR_INVALID_REQUEST, "argument request", {set_copies}, 0},
    {"CommunicatorAsRequest", comm_as_request, TUTTI_ERROR_INVALID_REQUEST, "argument request", {set_copies}, 0},
    {"NoPlaceForARequest",
     no_place_for_a_request,
     TUTTI_ERROR_INVALID_ARGUMENT,
     "argument request",
     {"pass the address"},
     0},
    {"NullGroup", null_group, TUTTI_ERROR_INVALID_ARGUMENT, "argument group", {"create it with tutti_group_create"}, 0},
    {"FreedGroup", run_of_freed_group, TUTTI_ERROR_INVALID_ARGUMENT, "argument group", {set_copies}, 0},
    {"FreedDatatype", send_of_freed_datatype, TUTTI_ERROR_INVALID_DATATYPE, "argument datatype", {"pass one that"}, 0},
    {"DatatypeFreedTwice", datatype_freed_twice, TUTTI_ERROR_INVALID_DATATYPE, "argument datatype", {"free each"}, 0},
    {"FreedOperation", reduction_by_freed_op, TUTTI_ERROR_INVALID_OP, "argument op", {"pass a constant of tutti.h"}, 0},
    {"OperationFreedTwice", op_freed_twice, TUTTI_ERROR_INVALID_OP, "argument op", {"free each operation once"}, 0},
    {"MemoryFreedTwice", memory_freed_twice, TUTTI_ERROR_INVALID_ARGUMENT, "argument data", {"pass each address"}, 0},
#if TUTTI_HAS_TRAINING
    {"NullReducer", null_reducer, TUTTI_ERROR_INVALID_ARGUMENT, "argument reducer", {"pass a handle made by"}, 0},
#endif
    {0}};
