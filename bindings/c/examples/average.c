/* SPDX-License-Identifier: BSD-3-Clause */
/* Averages a measurement over all ranks, while they do other work. */
#include <stdio.h>
#include <tutti/tutti.h>

enum { points = 1000 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tutti_error_message());
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tutti_comm_t comm;
  int rank, size;
  if (tutti_comm_duplicate(MPI_COMM_WORLD, &comm)) return fail("duplicate");
  tutti_comm_rank(comm, &rank);
  tutti_comm_size(comm, &size);

  double measured[points];
  for (int i = 0; i < points; ++i) measured[i] = rank + i;

  /* In place, nonblocking: `measured` must not be touched before the wait. */
  tutti_request_t request;
  if (tutti_iallreduce(comm, TUTTI_IN_PLACE, measured, points, TUTTI_FLOAT64, TUTTI_AVG, NULL, &request))
    return fail("iallreduce");
  double work = 0;
  for (int i = 1; i < 100000; ++i) work += 1.0 / i;
  if (tutti_wait(&request, NULL)) return fail("wait");

  /* Persistent: bound once, started any number of times. */
  double largest = work + rank;
  tutti_options_t options = TUTTI_OPTIONS_INIT;
  options.timeout = 30.0; /* seconds */
  if (tutti_reduce_init(comm, rank == 0 ? TUTTI_IN_PLACE : &largest, &largest, 1, TUTTI_FLOAT64, TUTTI_MAX, 0, &options,
                        &request))
    return fail("reduce_init");
  if (tutti_start(&request) || tutti_wait(&request, NULL)) return fail("reduce");
  tutti_request_free(&request);

  if (rank == 0) printf("average %.1f of %d ranks, largest %.3f\n", measured[0], size, largest);
  const int good = measured[points - 1] == points - 1 + (size - 1) / 2.0;
  tutti_comm_free(&comm);
  MPI_Finalize();
  return good ? 0 : 1;
}
