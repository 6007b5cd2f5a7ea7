/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

#include "check.h"

/* A grid of all ranks in a periodic dimension and of one rank in a dimension that ends: each rank has four neighbours,
   two of which do not exist. */
enum { neighbors = 4, width = 5 };

static int rank, size, n;
static int from[neighbors];
static int64_t sent[most], received[most];
static size_t counts[neighbors], displs[neighbors], recv_counts[neighbors], recv_displs[neighbors];

static void fill(int iteration) {
  clear(sent);
  clear(received);
  for (int b = 0; b < neighbors; ++b)
    for (int i = 0; i < width; ++i) sent[b * width + i] = value(rank, (size_t)(b * width + i), iteration);
}

/* Block b has `elements` elements of block b ^ 1 of its source, from a place in the source's buffer on. */
static void check_block(int b, const int64_t* found, size_t stride, size_t elements, size_t place, int iteration) {
  for (size_t i = 0; i < elements; ++i)
    CHECK(found[i * stride] == (from[b] == TUTTI_PROC_NULL ? -1 : value(from[b], place + i, iteration)));
}
static void check_equal(int iteration) {
  for (int b = 0; b < neighbors; ++b)
    check_block(b, received + b * width, 1, width, (size_t)((b ^ 1) * width), iteration);
}
static void check_gathered(int iteration) {
  for (int b = 0; b < neighbors; ++b) check_block(b, received + b * width, 1, width, 0, iteration);
}
static void check_placed(int iteration) {
  for (int b = 0; b < neighbors; ++b)
    check_block(b, received + recv_displs[b], 1, recv_counts[b], displs[b ^ 1], iteration);
}
static void check_gathered_placed(int iteration) {
  for (int b = 0; b < neighbors; ++b) check_block(b, received + recv_displs[b], 1, width, 0, iteration);
}
/* The columns of a matrix of five rows and four columns, of which block b is column b. */
static void check_columns(int iteration) {
  for (int b = 0; b < neighbors; ++b)
    check_block(b, received + b, neighbors, width, (size_t)((b ^ 1) * width), iteration);
}

static void run_on(tutti_comm_t comm) {
  THREE_FORMS(fill, check_equal, neighbor_alltoall, comm, sent, received, width, TUTTI_INT64);
  THREE_FORMS(fill, check_gathered, neighbor_allgather, comm, sent, received, width, TUTTI_INT64);
  for (size_t b = 0; b < neighbors; ++b) {
    counts[b] = b + 1;
    displs[b] = b * width;
    recv_counts[b] = (b ^ 1) + 1;
    recv_displs[b] = (neighbors - 1 - b) * width;
  }
  THREE_FORMS(fill, check_placed, neighbor_alltoallv, comm, sent, counts, displs, received, recv_counts, recv_displs,
              TUTTI_INT64);
  const size_t whole[] = {width, width, width, width};
  THREE_FORMS(fill, check_gathered_placed, neighbor_allgatherv, comm, sent, width, received, whole, recv_displs,
              TUTTI_INT64);
  tutti_datatype_t column = TUTTI_DATATYPE_NULL;
  OK(tutti_datatype_vector(width, 1, neighbors, TUTTI_INT64, &column));
  const tutti_datatype_t rows[] = {TUTTI_INT64, TUTTI_INT64, TUTTI_INT64, TUTTI_INT64};
  const tutti_datatype_t columns[] = {column, column, column, column};
  const size_t ones[] = {1, 1, 1, 1};
  /* Displacements are from the middle, so that some are negative. */
  ptrdiff_t row_displs[neighbors], column_displs[neighbors];
  for (int b = 0; b < neighbors; ++b) {
    row_displs[b] = (b - 2) * width * (ptrdiff_t)sizeof(int64_t);
    column_displs[b] = (b - 2) * (ptrdiff_t)sizeof(int64_t);
  }
  THREE_FORMS(fill, check_columns, neighbor_alltoallw, comm, sent + 2 * width, whole, row_displs, rows, received + 2,
              ones, column_displs, columns);
  FAILS(tutti_neighbor_alltoallw(comm, sent, NULL, row_displs, rows, received, ones, column_displs, columns, NULL),
        TUTTI_ERROR_INVALID_ARGUMENT, "send_counts");
  OK(tutti_datatype_free(&column));
  FAILS(tutti_neighbor_alltoall(comm, TUTTI_IN_PLACE, received, width, TUTTI_INT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "in_place");
}

void test_neighborhood(const struct group* g) {
  FAILS(tutti_neighbor_alltoall(g->comm, sent, received, 1, TUTTI_INT64, NULL), TUTTI_ERROR_INVALID_ARGUMENT,
        "topology");
  MPI_Comm flat = MPI_COMM_NULL, grid = MPI_COMM_NULL;
  OK(tutti_comm_mpi_handle(g->comm, &flat));
  const int sizes[] = {g->size, 1}, periodic[] = {1, 0};
  MPI_Cart_create(flat, 2, sizes, periodic, 0, &grid);
  rank = g->rank;
  size = g->size;
  tutti_comm_t comm = TUTTI_COMM_NULL;
  OK(tutti_comm_adopt(grid, &comm));
  size_t sources = 0, destinations = 0;
  int to[2] = {-1, -1};
  OK(tutti_comm_neighbors(comm, neighbors, from, &sources, 2, to, &destinations));
  n = (int)sources;
  CHECK(n == neighbors && destinations == neighbors);
  CHECK(from[0] == (rank + size - 1) % size && from[1] == (rank + 1) % size);
  CHECK(from[2] == TUTTI_PROC_NULL && from[3] == TUTTI_PROC_NULL);
  CHECK(to[0] == from[0] && to[1] == from[1]);
  run_on(comm);
  OK(tutti_comm_free(&comm));
}
