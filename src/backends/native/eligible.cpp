// SPDX-License-Identifier: BSD-3-Clause
#include "backends/native/native_execution.hpp"

#include <climits>

#include "call/schedule_rules.hpp"
#include "core/host_mpi.hpp"

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
  return host_has_large_counts();
#else
  // Without MPI's large-count functions no rank can know whether all ranks' counts fit into an int.
  const std::size_t unit = signature.type.kind() == DatatypeKind::bytes ? signature.type.size() : 1;
  return !tutti::has_counts(signature.operation) && signature.count <= static_cast<std::size_t>(INT_MAX) / unit;
#endif
}

/// The meaning differs for floating min and max (NaN), 16- and 8-bit floats, avg, pre-multiplied sums, user operations,
/// reproducible mode, exact sums, persistent calls and device memory.
bool means_the_same(const Signature& signature) {
  if (signature.memory != MemoryClass::host || signature.kind == CallKind::persistent || signature.reproducible ||
      sums_exactly(signature))
    return false;
  if (combines(signature.operation) && !op_is_equal(signature.op, signature.type.kind())) return false;
  return counts_fit(signature);
}

}  // namespace

std::string why_native_differs(const Signature& signature, const Machine& machine) {
  if (!means_the_same(signature)) return "the host MPI's own collective has different semantics for this call";
  if (combines(signature.operation) && machine.reduction_faults.has(signature.op, signature.type.kind()))
    return std::string("the host MPI computes the ") + reduce_op_name(signature.op) + " of " +
           datatype_name(signature.type.kind()) + " wrongly";
  return {};
}

}  // namespace tutti::detail
