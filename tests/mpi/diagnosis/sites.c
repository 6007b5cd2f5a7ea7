/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that make different calls: the error names the places of both, by macros or from the stack. */
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

enum { line_of_step = 12, line_of_init = 15 };

static float x[4];

__attribute__((noinline)) static int step(tutti_comm_t comm) {
  return tutti_allreduce(comm, TUTTI_IN_PLACE, x, 4, TUTTI_FLOAT32, TUTTI_SUM, NULL); /* line_of_step */
}
__attribute__((noinline)) static int init(tutti_comm_t comm) {
  return tutti_bcast(comm, x, 1, TUTTI_FLOAT32, 0, NULL); /* line_of_init */
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tutti_comm_options_t options = TUTTI_COMM_OPTIONS_INIT;
  options.check = TUTTI_CHECK_CALLS;
  options.timeout = 20;
  tutti_comm_t comm = TUTTI_COMM_NULL;
  int bad = tutti_comm_create(MPI_COMM_WORLD, TUTTI_COMM_DUPLICATE, &options, &comm) != TUTTI_SUCCESS;
  const int code = rank + 1 == size ? init(comm) : step(comm);
  char a[128];
  char b[128];
  snprintf(a, sizeof a, "rank %d calls allreduce(float32, count 4, sum) at sites.c:%d in step()",
           rank + 1 == size ? 0 : rank, line_of_step);
  snprintf(b, sizeof b, "rank %d calls bcast(float32, count 1, root 0) at sites.c:%d in init()", size - 1,
           line_of_init);
  const char* text = tutti_error_message();
  bad = bad || code != TUTTI_ERROR_MISMATCH || strstr(text, a) == NULL || strstr(text, b) == NULL;
  if (bad) fprintf(stderr, "rank %d: code %d: %s\nwanted: %s, %s\n", rank, code, text, a, b);
  tutti_comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return bad;
}
