// SPDX-License-Identifier: BSD-3-Clause
#include "backends/native/native_execution.hpp"

#include <climits>

#include "call/schedule_rules.hpp"
#include "core/host_mpi.hpp"
#include "core/mpi_types.hpp"

namespace tutti::detail {
namespace {

/// MPI has the type and the operation. Of floating-point numbers, min and max differ where there are NaNs.
bool op_is_equal(ReduceKind op, DatatypeKind kind) {
  const bool is_extremum = op == ReduceKind::min || op == ReduceKind::max;
  const bool is_real = kind == DatatypeKind::float32 || kind == DatatypeKind::float64;
  return mpi_datatype(kind) != MPI_DATATYPE_NULL && mpi_op(op) != MPI_OP_NULL && is_defined(op, kind) &&
         !(is_extremum && is_real);
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
