// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_types.hpp"

#include <fmt/format.h>

#include "backends/native/eligible.hpp"

namespace tutti::commbench {
namespace {

MPI_Datatype find_type(DatatypeKind kind) {
  switch (kind) {
    case DatatypeKind::float32_int32:
      return MPI_FLOAT_INT;
    case DatatypeKind::float64_int32:
      return MPI_DOUBLE_INT;
    case DatatypeKind::int64_int32:
      return MPI_LONG_INT;
    default:
      return detail::mpi_datatype(kind);
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
  const MPI_Op found = detail::mpi_op(kind);
  if (found == MPI_OP_NULL) throw NotApplicable(fmt::format("MPI has no operation {}", reduce_op_name(kind)));
  return found;
}

}  // namespace tutti::commbench
