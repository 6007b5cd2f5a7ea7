/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI is finalized while communicators and a persistent request are there: later calls are errors, frees are fine. */
#include "check.h"

int failures = 0;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tutti_comm_t comm, part;
  tutti_request_t request;
  int64_t x = 1;
  OK(tutti_comm_duplicate(MPI_COMM_WORLD, &comm));
  OK(tutti_comm_split_by_node(comm, &part));
  OK(tutti_allreduce_init(comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, NULL, &request));
  char* memory = NULL;
  OK(tutti_allocate(comm, 100, TUTTI_MEMORY_HOST, (void**)&memory));
  OK(tutti_start(&request));
  OK(tutti_wait(&request, NULL));
  MPI_Finalize();
  FAILS(tutti_barrier(comm, NULL), TUTTI_ERROR_FINALIZED, "");
  FAILS(tutti_comm_duplicate(MPI_COMM_WORLD, &(tutti_comm_t){NULL}), TUTTI_ERROR_FINALIZED, "");
  FAILS(tutti_comm_duplicate_f(0, &(tutti_comm_t){NULL}), TUTTI_ERROR_FINALIZED, "MPI");
  FAILS(tutti_allocate(comm, 100, TUTTI_MEMORY_HOST, &(void*){NULL}), TUTTI_ERROR_FINALIZED, "");
  memory[99] = 1;
  OK(tutti_deallocate(memory));
  OK(tutti_request_free(&request));
  OK(tutti_comm_free(&part));
  OK(tutti_comm_free(&comm));
  return failures == 0 ? 0 : 1;
}
