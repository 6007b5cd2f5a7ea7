/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that uses MPI, in which one MPI_Allreduce, that of the scalar products, became Tutti's: power iteration for
   the largest eigenvalue of the matrix with 2 on its diagonal and -1 beside it, its rows divided among the ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

/* Before: MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); */
static double dot(tutti_comm_t comm, int n, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  if (tutti_allreduce(comm, TUTTI_IN_PLACE, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM, NULL)) {
    fprintf(stderr, "%s\n", tutti_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return sum;
}

/* y = A x; x has one element of each neighbour around it. The messages are MPI's, as they were. */
static void multiply(MPI_Comm comm, int n, int before, int after, double* x, double* y) {
  MPI_Sendrecv(&x[1], 1, MPI_DOUBLE, before, 0, &x[n + 1], 1, MPI_DOUBLE, after, 0, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&x[n], 1, MPI_DOUBLE, after, 1, &x[0], 1, MPI_DOUBLE, before, 1, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i + 1] - x[i] - x[i + 2];
}

int main(int argc, char** argv) {
  enum { all = 24, steps = 800 };
  MPI_Comm comm = MPI_COMM_WORLD;
  tutti_comm_t fast = TUTTI_COMM_NULL;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (tutti_comm_borrow(comm, &fast)) { /* once; comm stays the program's own */
    fprintf(stderr, "%s\n", tutti_error_message());
    MPI_Abort(comm, 1);
  }

  const int first = rank * all / ranks;
  const int n = (rank + 1) * all / ranks - first;
  double* x = calloc((size_t)n + 2, sizeof *x);
  double* y = calloc((size_t)n + 1, sizeof *y);
  for (int i = 0; i < n; ++i) x[i + 1] = 1 + (first + i) % 3;
  double eigenvalue = 0;
  for (int step = 0; step < steps; ++step) {
    multiply(comm, n, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, x, y);
    const double length = sqrt(dot(fast, n, y, y));
    eigenvalue = dot(fast, n, x + 1, y) / dot(fast, n, x + 1, x + 1);
    for (int i = 0; i < n; ++i) x[i + 1] = y[i] / length;
  }

  const double wanted = 2 + 2 * cos(acos(-1.0) / (all + 1));
  if (rank == 0) printf("largest eigenvalue %.6f, wanted %.6f\n", eigenvalue, wanted);
  free(x);
  free(y);
  tutti_comm_free(&fast);
  MPI_Finalize();
  return fabs(eigenvalue - wanted) < 1e-6 ? 0 : 1;
}
