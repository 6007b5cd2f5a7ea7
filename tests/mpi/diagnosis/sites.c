/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that make different calls: the error names the places of both, by macros or from the stack. Before it, a
   message of another datatype than that of its receive. */
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

enum { line_of_step = 13, line_of_init = 16, line_of_give = 19, line_of_take = 22 };

static float x[4];

__attribute__((noinline)) static int step(tutti_comm_t comm) {
  return tutti_allreduce(comm, TUTTI_IN_PLACE, x, 4, TUTTI_FLOAT32, TUTTI_SUM, NULL); /* line_of_step */
}
__attribute__((noinline)) static int init(tutti_comm_t comm) {
  return tutti_bcast(comm, x, 1, TUTTI_FLOAT32, 0, NULL); /* line_of_init */
}
__attribute__((noinline)) static int give(tutti_comm_t comm) {
  return tutti_send(comm, x, 4, TUTTI_FLOAT32, 0, 5, NULL); /* line_of_give */
}
__attribute__((noinline)) static int take(tutti_comm_t comm) {
  return tutti_recv(comm, x, 2, TUTTI_FLOAT64, TUTTI_ANY_SOURCE, 5, NULL, NULL); /* line_of_take */
}

/* The last rank sends to the first. Returns 1 if that rank was told something else than the two datatypes. */
static int exchange(tutti_comm_t comm, int rank, int size) {
  if (rank + 1 == size) return give(comm) != TUTTI_SUCCESS;
  if (rank != 0) return 0;
  const int code = take(comm);
  char wanted[256];
  snprintf(
      wanted, sizeof wanted,
      "rank %d sends float32 (count 4) at sites.c:%d in give(), rank 0 receives float64 (count 2) at sites.c:%d in "
      "take(); ",
      size - 1, line_of_give, line_of_take);
  const char* text = tutti_error_message();
  const int bad = code != TUTTI_ERROR_MISMATCH || strstr(text, wanted) == NULL;
  if (bad) fprintf(stderr, "code %d: %s\nwanted: %s\n", code, text, wanted);
  return bad;
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
  bad = bad || exchange(comm, rank, size);
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
