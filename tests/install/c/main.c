/* SPDX-License-Identifier: BSD-3-Clause */
/* A client that knows Tutti only as installed: sums the ranks and checks the result. */
#include <stdio.h>
#include <tutti/tutti.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tutti_comm_t comm;
  int err = tutti_comm_duplicate(MPI_COMM_WORLD, &comm);
  int rank = -1, size = 0;
  if (!err) err = tutti_comm_rank(comm, &rank);
  if (!err) err = tutti_comm_size(comm, &size);

  float x[1000];
  for (int i = 0; i < 1000; ++i) x[i] = (float)rank;
  if (!err) err = tutti_allreduce(comm, TUTTI_IN_PLACE, x, 1000, TUTTI_FLOAT32, TUTTI_SUM, NULL);
  if (err) fprintf(stderr, "%s\n", tutti_error_message());

  int good = !err;
  for (int i = 0; i < 1000; ++i) good = good && x[i] == (float)(size * (size - 1)) / 2;
  if (rank == 0 && good) printf("sum of ranks %g\n", (double)x[0]);
  if (!err) tutti_comm_free(&comm);
  MPI_Finalize();
  return good ? 0 : 1;
}
