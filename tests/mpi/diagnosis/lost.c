/* SPDX-License-Identifier: BSD-3-Clause */
/* A request that is never completed, and a communicator that is never freed: MPI_Finalize lists both. */
#define TUTTI_CALL_SITES
#include <stddef.h>
#include <tutti/tutti.h>

static float in[4];
static float out[4];

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tutti_comm_t comm = TUTTI_COMM_NULL;
  tutti_comm_t part = TUTTI_COMM_NULL;
  tutti_request_t lost = TUTTI_REQUEST_NULL;
  tutti_request_t done = TUTTI_REQUEST_NULL;
  int bad = tutti_comm_duplicate(MPI_COMM_WORLD, &comm);
  bad = bad || tutti_iallreduce(comm, in, out, 4, TUTTI_FLOAT32, TUTTI_SUM, NULL, &lost);
  bad = bad || tutti_ibarrier(comm, NULL, &done) || tutti_wait(&done, NULL);
  bad = bad || tutti_comm_split(comm, 0, 0, &part) || tutti_comm_free(&part);
  MPI_Finalize();
  return bad;
}
