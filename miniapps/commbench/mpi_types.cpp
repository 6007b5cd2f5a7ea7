// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_types.hpp"

#include <fmt/format.h>

namespace tutti::commbench {
namespace {

MPI_Datatype find_type(DatatypeKind kind) {
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
    case DatatypeKind::float32_int32:
      return MPI_FLOAT_INT;
    case DatatypeKind::float64_int32:
      return MPI_DOUBLE_INT;
    case DatatypeKind::int64_int32:
      return MPI_LONG_INT;
    default:
      return MPI_DATATYPE_NULL;
  }
}

MPI_Op find_operation(ReduceKind kind) {
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

void exclusive_or(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  const auto* a = static_cast<const unsigned char*>(in);
  auto* b = static_cast<unsigned char*>(inout);
  for (MPI_Aint i = 0; i < *count * extent; ++i) b[i] = static_cast<unsigned char>(a[i] ^ b[i]);
}

/// One for the whole run: MPI frees it when it is finalized.
MPI_Op user_operation() {
  static const MPI_Op op = [] {
    MPI_Op made = MPI_OP_NULL;
    MPI_Op_create(&exclusive_or, 1, &made);
    return made;
  }();
  return op;
}

}  // namespace

MpiType mpi_type_to_move(Datatype type) {
  const MPI_Datatype found = find_type(type.kind());
  return found == MPI_DATATYPE_NULL ? MpiType{MPI_BYTE, type.size()} : MpiType{found, 1};
}

MPI_Datatype mpi_type_to_reduce(Datatype type) {
  const MPI_Datatype found = find_type(type.kind());
  if (found == MPI_DATATYPE_NULL)
    throw NotApplicable(fmt::format("MPI has no datatype {}", datatype_name(type.kind())));
  return found;
}

MPI_Op mpi_operation(ReduceKind kind) {
  if (kind == ReduceKind::user) return user_operation();
  const MPI_Op found = find_operation(kind);
  if (found == MPI_OP_NULL) throw NotApplicable(fmt::format("MPI has no operation {}", reduce_op_name(kind)));
  return found;
}

}  // namespace tutti::commbench
