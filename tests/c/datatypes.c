/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "fortran_handles.h"

static size_t size_of(tutti_datatype_t datatype) {
  size_t size = 0;
  OK(tutti_datatype_size(datatype, &size));
  return size;
}

/* Moves one block of 16-byte patterns as each type: every byte must arrive. */
static void test_movement(const struct group* g) {
  for (tutti_datatype_t type = TUTTI_INT8; type <= TUTTI_BYTE; ++type) {
    unsigned char mine[48], all[48 * most_ranks];
    for (int i = 0; i < 48; ++i) mine[i] = (unsigned char)(g->rank * 48 + i);
    OK(tutti_allgather(g->comm, mine, all, 48 / size_of(type), type, NULL));
    for (int i = 0; i < 48 * g->size; ++i) CHECK(all[i] == (unsigned char)i);
  }
}

#define SUMS(type, name)                                                                                \
  static void sum_##name(const struct group* g) {                                                       \
    type x[3];                                                                                          \
    for (int i = 0; i < 3; ++i) x[i] = (type)(g->rank + i + 1);                                         \
    OK(tutti_allreduce(g->comm, TUTTI_IN_PLACE, x, 3, TUTTI_##name, TUTTI_SUM, NULL));                  \
    for (int i = 0; i < 3; ++i) CHECK(x[i] == (type)(g->size * (g->size - 1) / 2 + g->size * (i + 1))); \
  }
#define ALL_SUMS(X) \
  X(int8_t, INT8)   \
  X(int16_t, INT16) \
  X(int32_t, INT32) \
  X(int64_t, INT64) \
  X(uint8_t, UINT8) X(uint16_t, UINT16) X(uint32_t, UINT32) X(uint64_t, UINT64) X(float, FLOAT32) X(double, FLOAT64)
ALL_SUMS(SUMS)

static void test_handles(void) {
  CHECK(size_of(TUTTI_FLOAT32) == 4 && size_of(TUTTI_COMPLEX128) == 16 && size_of(TUTTI_BFLOAT16) == 2);
  CHECK(size_of(TUTTI_BYTE) == 1 && size_of(tutti_datatype_bytes(1)) == 1 &&
        size_of(tutti_datatype_bytes(4097)) == 4097);
  CHECK(tutti_datatype_bytes(1) == TUTTI_BYTE && tutti_datatype_bytes(0) == TUTTI_DATATYPE_NULL);
  CHECK(strcmp(tutti_datatype_name(TUTTI_BFLOAT16), "bfloat16") == 0);
  CHECK(strcmp(tutti_datatype_name(99), "unknown datatype") == 0);
  size_t size = 0;
  FAILS(tutti_datatype_size(99, &size), TUTTI_ERROR_INVALID_DATATYPE, "99");
  FAILS(tutti_datatype_size(-3, &size), TUTTI_ERROR_INVALID_DATATYPE, "-3");
  FAILS(tutti_datatype_size(TUTTI_FLOAT32, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "size");
}

/* MPI's datatypes and operations, of C and of Fortran, and those without counterpart. */
static void test_from_mpi(void) {
  tutti_datatype_t type = TUTTI_DATATYPE_NULL;
  tutti_op_t op = TUTTI_OP_NULL;
  MPI_Datatype three;
  OK(tutti_datatype_from_mpi(MPI_DOUBLE, &type));
  CHECK(type == TUTTI_FLOAT64);
  OK(tutti_datatype_from_mpi(MPI_UNSIGNED, &type));
  CHECK(type == TUTTI_UINT32);
  OK(tutti_datatype_from_mpi(MPI_2INT, &type));
  CHECK(type == TUTTI_INT32_INT32);
  OK(tutti_datatype_from_mpi_f(TUTTI_TYPE_TO_FORTRAN(MPI_FLOAT), &type));
  CHECK(type == TUTTI_FLOAT32);
  MPI_Type_contiguous(3, MPI_DOUBLE, &three);
  OK(tutti_datatype_from_mpi(three, &type));
  CHECK(type == tutti_datatype_bytes(24));
  MPI_Type_free(&three);
  FAILS(tutti_datatype_from_mpi(MPI_LONG_DOUBLE, &type), TUTTI_ERROR_INVALID_DATATYPE, "type");
  FAILS(tutti_datatype_from_mpi(MPI_DATATYPE_NULL, &type), TUTTI_ERROR_INVALID_DATATYPE, "MPI_DATATYPE_NULL");
  FAILS(tutti_datatype_from_mpi(MPI_DOUBLE, NULL), TUTTI_ERROR_INVALID_ARGUMENT, "datatype");
  OK(tutti_op_from_mpi(MPI_MAXLOC, &op));
  CHECK(op == TUTTI_MAXLOC);
  OK(tutti_op_from_mpi_f(TUTTI_OP_TO_FORTRAN(MPI_BXOR), &op));
  CHECK(op == TUTTI_BXOR);
  FAILS(tutti_op_from_mpi(MPI_REPLACE, &op), TUTTI_ERROR_INVALID_OP, "op");
}

void test_datatypes(const struct group* g) {
  test_from_mpi();
#define RUN(type, name) sum_##name(g);
  ALL_SUMS(RUN)
  test_handles();
  test_movement(g);
}
