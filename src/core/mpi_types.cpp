// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_types.hpp"

namespace tutti::detail {

#define TUTTI_MPI(Kind, name, mpi) \
  case Kind::name:                 \
    return mpi;

MPI_Datatype mpi_datatype(DatatypeKind kind) {
  switch (kind) {
    TUTTI_MPI(DatatypeKind, int8, MPI_INT8_T)
    TUTTI_MPI(DatatypeKind, int16, MPI_INT16_T)
    TUTTI_MPI(DatatypeKind, int32, MPI_INT32_T)
    TUTTI_MPI(DatatypeKind, int64, MPI_INT64_T)
    TUTTI_MPI(DatatypeKind, uint8, MPI_UINT8_T)
    TUTTI_MPI(DatatypeKind, uint16, MPI_UINT16_T)
    TUTTI_MPI(DatatypeKind, uint32, MPI_UINT32_T)
    TUTTI_MPI(DatatypeKind, uint64, MPI_UINT64_T)
    TUTTI_MPI(DatatypeKind, float32, MPI_FLOAT)
    TUTTI_MPI(DatatypeKind, float64, MPI_DOUBLE)
    TUTTI_MPI(DatatypeKind, complex64, MPI_C_FLOAT_COMPLEX)
    TUTTI_MPI(DatatypeKind, complex128, MPI_C_DOUBLE_COMPLEX)
    TUTTI_MPI(DatatypeKind, int32_int32, MPI_2INT)
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op mpi_op(ReduceKind kind) {
  switch (kind) {
    TUTTI_MPI(ReduceKind, sum, MPI_SUM)
    TUTTI_MPI(ReduceKind, prod, MPI_PROD)
    TUTTI_MPI(ReduceKind, min, MPI_MIN)
    TUTTI_MPI(ReduceKind, max, MPI_MAX)
    TUTTI_MPI(ReduceKind, land, MPI_LAND)
    TUTTI_MPI(ReduceKind, lor, MPI_LOR)
    TUTTI_MPI(ReduceKind, lxor, MPI_LXOR)
    TUTTI_MPI(ReduceKind, band, MPI_BAND)
    TUTTI_MPI(ReduceKind, bor, MPI_BOR)
    TUTTI_MPI(ReduceKind, bxor, MPI_BXOR)
    TUTTI_MPI(ReduceKind, minloc, MPI_MINLOC)
    TUTTI_MPI(ReduceKind, maxloc, MPI_MAXLOC)
    default:
      return MPI_OP_NULL;
  }
}

#undef TUTTI_MPI

}  // namespace tutti::detail
