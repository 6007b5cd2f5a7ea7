// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_types.hpp"

namespace tutti::detail {

MPI_Datatype mpi_datatype(DatatypeKind kind) {
  switch (kind) {
    case DatatypeKind::int8:
      return MPI_INT8_T;
    case DatatypeKind::int16:
      return MPI_INT16_T;
    case DatatypeKind::int32:
      return MPI_INT32_T;
    case DatatypeKind::int64:
      return MPI_INT64_T;
    case DatatypeKind::uint8:
      return MPI_UINT8_T;
    case DatatypeKind::uint16:
      return MPI_UINT16_T;
    case DatatypeKind::uint32:
      return MPI_UINT32_T;
    case DatatypeKind::uint64:
      return MPI_UINT64_T;
    case DatatypeKind::float32:
      return MPI_FLOAT;
    case DatatypeKind::float64:
      return MPI_DOUBLE;
    case DatatypeKind::complex64:
      return MPI_C_FLOAT_COMPLEX;
    case DatatypeKind::complex128:
      return MPI_C_DOUBLE_COMPLEX;
    case DatatypeKind::int32_int32:
      return MPI_2INT;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op mpi_op(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::sum:
      return MPI_SUM;
    case ReduceKind::prod:
      return MPI_PROD;
    case ReduceKind::min:
      return MPI_MIN;
    case ReduceKind::max:
      return MPI_MAX;
    case ReduceKind::land:
      return MPI_LAND;
    case ReduceKind::lor:
      return MPI_LOR;
    case ReduceKind::lxor:
      return MPI_LXOR;
    case ReduceKind::band:
      return MPI_BAND;
    case ReduceKind::bor:
      return MPI_BOR;
    case ReduceKind::bxor:
      return MPI_BXOR;
    case ReduceKind::minloc:
      return MPI_MINLOC;
    case ReduceKind::maxloc:
      return MPI_MAXLOC;
    default:
      return MPI_OP_NULL;
  }
}

}  // namespace tutti::detail
