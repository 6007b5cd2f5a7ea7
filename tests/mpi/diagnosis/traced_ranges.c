/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges by the C interface, which the trace must show. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

static void expect(int code, int wanted, const char* call) {
  if (code == wanted) return;
  fprintf(stderr, "%s gives %d: %s\n", call, code, tutti_error_message());
  exit(1);
}

int main(int argc, char** argv) {
  tutti_comm_t comm = TUTTI_COMM_NULL;
  float x = 1;
  expect(tutti_range_pop(), TUTTI_ERROR_INVALID_ARGUMENT, "tutti_range_pop without a range");
  expect(tutti_range_push(NULL), TUTTI_ERROR_INVALID_ARGUMENT, "tutti_range_push without a name");
  expect(tutti_range_push("outer"), TUTTI_SUCCESS, "tutti_range_push before MPI_Init");
  MPI_Init(&argc, &argv);
  expect(tutti_comm_duplicate(MPI_COMM_WORLD, &comm), TUTTI_SUCCESS, "tutti_comm_duplicate");
  expect(tutti_range_push("inner"), TUTTI_SUCCESS, "tutti_range_push");
  expect(tutti_allreduce(comm, TUTTI_IN_PLACE, &x, 1, TUTTI_FLOAT32, TUTTI_SUM, NULL), TUTTI_SUCCESS,
         "tutti_allreduce");
  expect(tutti_range_pop(), TUTTI_SUCCESS, "tutti_range_pop of inner");
  expect(tutti_range_pop(), TUTTI_SUCCESS, "tutti_range_pop of outer");
  expect(tutti_comm_free(&comm), TUTTI_SUCCESS, "tutti_comm_free");
  MPI_Finalize();
  return 0;
}
