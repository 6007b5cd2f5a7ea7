/* SPDX-License-Identifier: BSD-3-Clause */
/* Data-parallel training: each rank fits a line to samples of its own; a reducer averages the gradients. */
#include <stdio.h>
#include <tutti/tutti.h>

enum { samples = 1000 };

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

  double slope = 0, offset = 0, slope_gradient, offset_gradient, state[2] = {0, 0};
  tutti_reducer_t reducer;
  if (tutti_reducer_create(comm, NULL, &reducer)) return fail("create");
  tutti_reducer_add(reducer, "slope", &slope, &slope_gradient, NULL, 0, TUTTI_FLOAT64, NULL);    /* parameter 0 */
  tutti_reducer_add(reducer, "offset", &offset, &offset_gradient, NULL, 0, TUTTI_FLOAT64, NULL); /* parameter 1 */
  if (tutti_reducer_prepare(reducer)) return fail("prepare");

  tutti_dense_update_t update = TUTTI_DENSE_UPDATE_INIT;
  update.learning_rate = 0.1;
  update.momentum = 0.8;
  for (unsigned step = 1; step <= 300; ++step) {
    slope_gradient = offset_gradient = 0;
    for (int i = 0; i < samples; ++i) {
      const double x = (double)(i * size + rank) / (samples * size);
      const double error = slope * x + offset - (3 * x - 1); /* the samples lie on 3 x - 1 */
      offset_gradient += 2 * error / samples;
      slope_gradient += 2 * error * x / samples;
    }
    tutti_reducer_ready(reducer, 1); /* in any order, as soon as each is complete */
    tutti_reducer_ready(reducer, 0);
    if (tutti_reducer_wait(reducer)) return fail("wait");
    tutti_dense_step(&update, step, &slope, &slope_gradient, &state[0], 1, TUTTI_FLOAT64);
    tutti_dense_step(&update, step, &offset, &offset_gradient, &state[1], 1, TUTTI_FLOAT64);
  }
  if (rank == 0) printf("y = %.4f x + %.4f, from %d ranks\n", slope, offset, size);
  tutti_reducer_free(&reducer);
  tutti_comm_free(&comm);
  MPI_Finalize();
  const double off = (slope - 3) * (slope - 3) + (offset + 1) * (offset + 1);
  return off < 1e-6 ? 0 : 1;
}
