/* SPDX-License-Identifier: BSD-3-Clause */
/* The C rank of a run that C, Fortran and C++ ranks share; every rank does the same and prints the same. */
#include <stdio.h>
#include <tutti/tutti.h>

#define MUST(call)                                               \
  do {                                                           \
    if (call) {                                                  \
      fprintf(stderr, "%s: %s\n", #call, tutti_error_message()); \
      MPI_Abort(MPI_COMM_WORLD, 1);                              \
    }                                                            \
  } while (0)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tutti_comm_t comm;
  int rank, size;
  MUST(tutti_comm_duplicate(MPI_COMM_WORLD, &comm));
  MUST(tutti_comm_rank(comm, &rank));
  MUST(tutti_comm_size(comm, &size));

  float x[6];
  for (int i = 0; i < 6; ++i) x[i] = (float)((rank + 1) * (i + 1));
  MUST(tutti_allreduce(comm, TUTTI_IN_PLACE, x, 6, TUTTI_FLOAT32, TUTTI_SUM, NULL));
  int good = 1;
  for (int i = 0; i < 6; ++i) good = good && x[i] == (float)(size * (size + 1) / 2 * (i + 1));

  int32_t truth = rank == 0;
  MUST(tutti_allreduce(comm, TUTTI_IN_PLACE, &truth, 1, TUTTI_LOGICAL32, TUTTI_LOR, NULL));
  good = good && truth != 0;

  int64_t mine = 10 * rank;
  int64_t all[64];
  tutti_request_t request;
  MUST(tutti_iallgather(comm, &mine, all, 1, TUTTI_INT64, NULL, &request));
  MUST(tutti_wait(&request, NULL));
  for (int r = 0; r < size; ++r) good = good && all[r] == 10 * r;

  double ball = rank + 0.5;
  double caught = -1;
  MUST(tutti_sendrecv(comm, &ball, 1, TUTTI_FLOAT64, (rank + 1) % size, 7, &caught, 1, TUTTI_FLOAT64,
                      (rank + size - 1) % size, 7, NULL, NULL));
  good = good && caught == (rank + size - 1) % size + 0.5;

  MUST(tutti_comm_free(&comm));
  printf("c rank %d of %d: %s\n", rank, size, good ? "good" : "bad");
  MPI_Finalize();
  return good ? 0 : 1;
}
