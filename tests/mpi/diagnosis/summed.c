/* SPDX-License-Identifier: BSD-3-Clause */
/* Three sums of all ranks, for `tutti diff`; with an argument the last rank adds other data to the second one. By the C
 * interface, or by MPI alone. */
#include <mpi.h>
#ifndef MPI_ONLY
#include <tutti/tutti.h>
#endif

int main(int argc, char** argv) {
  int rank = 0, size = 0, step, i;
  float x[48];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifndef MPI_ONLY
  tutti_comm_t comm = TUTTI_COMM_NULL;
  if (tutti_comm_duplicate(MPI_COMM_WORLD, &comm) != TUTTI_SUCCESS) return 1;
#endif
  for (step = 1; step <= 3; ++step) {
    for (i = 0; i < 48; ++i) x[i] = (float)(i * step);
    if (argc > 1 && step == 2 && rank == size - 1) x[30] = -1;
#ifdef MPI_ONLY
    MPI_Allreduce(MPI_IN_PLACE, x, 48, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
#else
    if (tutti_allreduce(comm, TUTTI_IN_PLACE, x, 48, TUTTI_FLOAT32, TUTTI_SUM, NULL) != TUTTI_SUCCESS) return 1;
#endif
  }
#ifndef MPI_ONLY
  if (tutti_comm_free(&comm) != TUTTI_SUCCESS) return 1;
#endif
  MPI_Finalize();
  return 0;
}
