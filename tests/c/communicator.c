/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "fortran_handles.h"

static void sum_on(tutti_comm_t comm) {
  struct group g = {comm, -1, -1};
  OK(tutti_comm_rank(comm, &g.rank));
  OK(tutti_comm_size(comm, &g.size));
  int64_t x = value(g.rank, 3, 1);
  OK(tutti_allreduce(comm, TUTTI_IN_PLACE, &x, 1, TUTTI_INT64, TUTTI_SUM, NULL));
  CHECK(x == sum_of(0, g.size, 3, 1));
}

static int compare(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  return result;
}

static void test_ownership(MPI_Comm mpi) {
  tutti_comm_t comm;
  MPI_Comm handle;
  OK(tutti_comm_duplicate(mpi, &comm));
  OK(tutti_comm_mpi_handle(comm, &handle));
  CHECK(compare(mpi, handle) == MPI_CONGRUENT);
  sum_on(comm);
  OK(tutti_comm_free(&comm));

  OK(tutti_comm_borrow(mpi, &comm));
  OK(tutti_comm_mpi_handle(comm, &handle));
  CHECK(compare(mpi, handle) == MPI_IDENT);
  sum_on(comm);
  OK(tutti_comm_free(&comm));

  MPI_Comm own;
  MPI_Comm_dup(mpi, &own);
  OK(tutti_comm_adopt(own, &comm));
  OK(tutti_comm_mpi_handle(comm, &handle));
  CHECK(compare(own, handle) == MPI_IDENT);
  sum_on(comm);
  OK(tutti_comm_free(&comm));
}

static void test_fortran_handles(MPI_Comm mpi) {
  tutti_comm_t comm;
  tutti_fint_t handle = 0;
  OK(tutti_comm_duplicate_f(TUTTI_COMM_TO_FORTRAN(mpi), &comm));
  OK(tutti_comm_mpi_handle_f(comm, &handle));
  CHECK(compare(mpi, TUTTI_COMM_FROM_FORTRAN(handle)) == MPI_CONGRUENT);
  sum_on(comm);
  OK(tutti_comm_free(&comm));
  OK(tutti_comm_borrow_f(TUTTI_COMM_TO_FORTRAN(mpi), &comm));
  OK(tutti_comm_free(&comm));
  MPI_Comm own;
  MPI_Comm_dup(mpi, &own);
  OK(tutti_comm_adopt_f(TUTTI_COMM_TO_FORTRAN(own), &comm));
  sum_on(comm);
  OK(tutti_comm_free(&comm));
}

static void test_parts(const struct group* g) {
  tutti_comm_t part;
  OK(tutti_comm_split(g->comm, g->rank == 0 ? MPI_UNDEFINED : 1, 0, &part));
  CHECK((part == TUTTI_COMM_NULL) == (g->rank == 0));
  if (part != TUTTI_COMM_NULL) sum_on(part);
  OK(tutti_comm_free(&part));
  OK(tutti_comm_split_by_node(g->comm, &part));
  sum_on(part);
  OK(tutti_comm_free(&part));
  OK(tutti_comm_free(&part));
  OK(tutti_comm_shrink(g->comm, &part)); /* all live on */
  sum_on(part);
  OK(tutti_comm_free(&part));
}

static void test_options_of(MPI_Comm mpi) {
  tutti_comm_options_t options = TUTTI_COMM_OPTIONS_INIT;
  tutti_comm_t comm;
  options.name = "gradients";
  options.timeout = 60.0;
  OK(tutti_comm_create(mpi, TUTTI_COMM_DUPLICATE, &options, &comm));
  sum_on(comm);
  FAILS(tutti_bcast(comm, NULL, 1, TUTTI_INT8, 99, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "gradients");
  OK(tutti_comm_free(&comm));
  options.check = 3;
  FAILS(tutti_comm_create(mpi, TUTTI_COMM_DUPLICATE, &options, &comm), TUTTI_ERROR_INVALID_ARGUMENT, "check");
  options.check = TUTTI_CHECK_CALLS;
  OK(tutti_at(__FILE__, __LINE__, NULL));
  OK(tutti_comm_create(mpi, TUTTI_COMM_DUPLICATE, &options, &comm));
  sum_on(comm);
  OK(tutti_comm_free(&comm));
  options.version = 0;
  FAILS(tutti_comm_create(mpi, TUTTI_COMM_DUPLICATE, &options, &comm), TUTTI_ERROR_INVALID_ARGUMENT, "version");
  CHECK(comm == TUTTI_COMM_NULL);
  FAILS(tutti_comm_create(mpi, 7, NULL, &comm), TUTTI_ERROR_INVALID_ARGUMENT, "ownership");
  FAILS(tutti_comm_create_f(TUTTI_COMM_TO_FORTRAN(mpi), 7, NULL, &comm), TUTTI_ERROR_INVALID_ARGUMENT, "ownership");
}

/* The first name is the library's own choice; each can be asked for. */
static void test_algorithms(const struct group* g) {
  char names[4096];
  size_t length = 0;
  OK(tutti_comm_algorithms(g->comm, "allreduce", TUTTI_CALL_BLOCKING, 8, TUTTI_FLOAT32, TUTTI_SUM, NULL, names,
                           sizeof names, &length));
  CHECK(length > 0 && length < sizeof names && strlen(names) == length);
  for (char* name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n")) {
    tutti_options_t options = TUTTI_OPTIONS_INIT;
    options.algorithm = name;
    float x[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, x, 8, TUTTI_FLOAT32, TUTTI_SUM, &options));
    CHECK(x[7] == (float)g->size);
  }
  OK(tutti_comm_algorithms(g->comm, "bcast", TUTTI_CALL_PERSISTENT, 1, TUTTI_INT8, TUTTI_OP_NULL, NULL, NULL, 0,
                           &length));
  CHECK(length > 0);
  FAILS(tutti_comm_algorithms(g->comm, "all", TUTTI_CALL_BLOCKING, 1, TUTTI_INT8, TUTTI_SUM, NULL, NULL, 0, &length),
        TUTTI_ERROR_INVALID_ARGUMENT, "alltoallv");
  FAILS(tutti_comm_algorithms(g->comm, "scan", 3, 1, TUTTI_INT8, TUTTI_SUM, NULL, NULL, 0, &length),
        TUTTI_ERROR_INVALID_ARGUMENT, "argument form");
}

/* After abort every call of this rank fails with the reason; other communicators live on. */
static void test_abort(const struct group* g, MPI_Comm mpi) {
  tutti_comm_t comm;
  OK(tutti_comm_duplicate(mpi, &comm));
  OK(tutti_comm_abort(comm, "the reactor is hot"));
  FAILS(tutti_barrier(comm, NULL), TUTTI_ERROR_ABORTED, "the reactor is hot");
  OK(tutti_comm_free(&comm));
  sum_on(g->comm);
}

void test_communicator(const struct group* g) {
  MPI_Comm mpi;
  OK(tutti_comm_mpi_handle(g->comm, &mpi));
  test_ownership(mpi);
  test_fortran_handles(mpi);
  test_parts(g);
  test_options_of(mpi);
  test_algorithms(g);
  test_abort(g, mpi);
}
