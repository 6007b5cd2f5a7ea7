/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of the tutorial, in three stages: a program that uses MPI, whose MPI_Allreduce became Tutti's; the same
   with a call that goes on beside work; the same with calls that are bound once. It is power iteration for the largest
   eigenvalue of the matrix with 2 on its diagonal and -1 beside it, its rows divided among the ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

enum { all_rows = 24, steps = 800 };

/* The rows of this rank. */
typedef struct {
  MPI_Comm comm;
  tutti_comm_t fast;
  int first, n, before, after;
  double *x, *y; /* x has one element of each neighbour around it */
} part_t;

static void require(int code) {
  if (code == TUTTI_SUCCESS) return;
  fprintf(stderr, "%s\n", tutti_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double dot(int n, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/* Before: MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); */
static double sum_over_ranks(const part_t* p, double sum) {
  require(tutti_allreduce(p->fast, TUTTI_IN_PLACE, &sum, 1, TUTTI_FLOAT64, TUTTI_SUM, NULL));
  return sum;
}

static void begin(part_t* p) {
  for (int i = 0; i < p->n; ++i) p->x[i + 1] = 1 + (p->first + i) % 3;
}

/* y = A x. The messages are MPI's, as they were. */
static void multiply(const part_t* p) {
  double* x = p->x;
  const int n = p->n;
  MPI_Sendrecv(&x[1], 1, MPI_DOUBLE, p->before, 0, &x[n + 1], 1, MPI_DOUBLE, p->after, 0, p->comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&x[n], 1, MPI_DOUBLE, p->after, 1, &x[0], 1, MPI_DOUBLE, p->before, 1, p->comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < n; ++i) p->y[i] = 2 * x[i + 1] - x[i] - x[i + 2];
}

/* x = y / length */
static void take(const part_t* p, double length) {
  for (int i = 0; i < p->n; ++i) p->x[i + 1] = p->y[i] / length;
}

static double replaced(part_t* p) {
  double eigenvalue = 0;
  begin(p);
  for (int step = 0; step < steps; ++step) {
    multiply(p);
    eigenvalue = sum_over_ranks(p, dot(p->n, p->x + 1, p->y)) / sum_over_ranks(p, dot(p->n, p->x + 1, p->x + 1));
    take(p, sqrt(sum_over_ranks(p, dot(p->n, p->y, p->y))));
  }
  return eigenvalue;
}

/* Nobody needs the eigenvalue before the end: its products are summed while the next step multiplies. */
static double overlapped(part_t* p) {
  double products[2] = {0, 1}; /* must not be touched before the wait */
  tutti_request_t request = TUTTI_REQUEST_NULL;
  begin(p);
  for (int step = 0; step < steps; ++step) {
    multiply(p);
    require(tutti_wait(&request, NULL)); /* returns at once for the first */
    products[0] = dot(p->n, p->x + 1, p->y);
    products[1] = dot(p->n, p->x + 1, p->x + 1);
    require(tutti_iallreduce(p->fast, TUTTI_IN_PLACE, products, 2, TUTTI_FLOAT64, TUTTI_SUM, NULL, &request));
    take(p, sqrt(sum_over_ranks(p, dot(p->n, p->y, p->y))));
  }
  require(tutti_wait(&request, NULL));
  return products[0] / products[1];
}

/* Both calls have the same buffers in each step: they are bound once, with their options, and started. */
static double bound(part_t* p) {
  double products[2] = {0, 1}, square = 0;
  tutti_request_t quotient = TUTTI_REQUEST_NULL, length = TUTTI_REQUEST_NULL;
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.timeout = 30.0; /* seconds; then the call fails where a rank is gone */
  require(tutti_allreduce_init(p->fast, TUTTI_IN_PLACE, products, 2, TUTTI_FLOAT64, TUTTI_SUM, &options, &quotient));
  require(tutti_allreduce_init(p->fast, TUTTI_IN_PLACE, &square, 1, TUTTI_FLOAT64, TUTTI_SUM, &options, &length));
  begin(p);
  for (int step = 0; step < steps; ++step) {
    multiply(p);
    require(tutti_wait(&quotient, NULL));
    products[0] = dot(p->n, p->x + 1, p->y);
    products[1] = dot(p->n, p->x + 1, p->x + 1);
    square = dot(p->n, p->y, p->y);
    require(tutti_start(&quotient));
    require(tutti_start(&length));
    require(tutti_wait(&length, NULL));
    take(p, sqrt(square));
  }
  require(tutti_wait(&quotient, NULL));
  require(tutti_request_free(&quotient));
  require(tutti_request_free(&length));
  return products[0] / products[1];
}

int main(int argc, char** argv) {
  part_t part = {.comm = MPI_COMM_WORLD, .fast = TUTTI_COMM_NULL};
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(part.comm, &rank);
  MPI_Comm_size(part.comm, &ranks);
  if (ranks > all_rows) {
    fprintf(stderr, "use at most %d ranks: each has rows\n", all_rows);
    MPI_Abort(part.comm, 1);
  }
  require(tutti_comm_borrow(part.comm, &part.fast)); /* once; the program's communicator stays its own */
  part.first = rank * all_rows / ranks;
  part.n = (rank + 1) * all_rows / ranks - part.first;
  part.before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  part.after = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  part.x = calloc((size_t)part.n + 2, sizeof *part.x);
  part.y = calloc((size_t)part.n + 1, sizeof *part.y);

  const double wanted = 2 + 2 * cos(acos(-1.0) / (all_rows + 1));
  const double found[] = {replaced(&part), overlapped(&part), bound(&part)};
  int wrong = 0;
  for (int i = 0; i < 3; ++i) wrong += fabs(found[i] - wanted) < 1e-6 ? 0 : 1;
  if (rank == 0) printf("largest eigenvalue %.6f, %.6f, %.6f, wanted %.6f\n", found[0], found[1], found[2], wanted);
  free(part.x);
  free(part.y);
  tutti_comm_free(&part.fast);
  MPI_Finalize();
  return wrong;
}
