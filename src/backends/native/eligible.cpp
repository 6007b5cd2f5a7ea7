// SPDX-License-Identifier: BSD-3-Clause
#include "backends/native/eligible.hpp"

#include <climits>

namespace tutti::detail {
namespace {

enum class Class : std::uint8_t { integer, real, complex, integer_pair, other };

Class class_of(DatatypeKind kind) {
  switch (kind) {
    case DatatypeKind::int8:
    case DatatypeKind::int16:
    case DatatypeKind::int32:
    case DatatypeKind::int64:
    case DatatypeKind::uint8:
    case DatatypeKind::uint16:
    case DatatypeKind::uint32:
    case DatatypeKind::uint64:
      return Class::integer;
    case DatatypeKind::float32:
    case DatatypeKind::float64:
      return Class::real;
    case DatatypeKind::complex64:
    case DatatypeKind::complex128:
      return Class::complex;
    case DatatypeKind::int32_int32:
      return Class::integer_pair;
    default:
      return Class::other;
  }
}

bool op_is_equal(ReduceKind op, DatatypeKind kind) {
  const Class type = class_of(kind);
  switch (op) {
    case ReduceKind::sum:
    case ReduceKind::prod:
      return type == Class::integer || type == Class::real || type == Class::complex;
    case ReduceKind::min:
    case ReduceKind::max:
    case ReduceKind::land:
    case ReduceKind::lor:
    case ReduceKind::lxor:
    case ReduceKind::band:
    case ReduceKind::bor:
    case ReduceKind::bxor:
      return type == Class::integer;
    case ReduceKind::minloc:
    case ReduceKind::maxloc:
      return type == Class::integer_pair;
    default:
      return false;
  }
}

bool counts_fit(const Signature& signature) {
#if MPI_VERSION >= 4
  (void)signature;
  return true;
#else
  // Without MPI's large-count functions no rank can know whether all ranks' counts fit into an int.
  const std::size_t unit = signature.type.kind() == DatatypeKind::bytes ? signature.type.size() : 1;
  return !schedules::has_counts(signature.operation) && signature.count <= static_cast<std::size_t>(INT_MAX) / unit;
#endif
}

}  // namespace

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

bool native_is_eligible(const Signature& signature) {
  if (signature.memory != MemoryClass::host || signature.kind == CallKind::persistent || signature.reproducible)
    return false;
  if (combines(signature.operation) && !op_is_equal(signature.op, signature.type.kind())) return false;
  return counts_fit(signature);
}

}  // namespace tutti::detail
