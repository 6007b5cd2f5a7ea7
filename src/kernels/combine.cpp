// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine.hpp"

#include <string>
#include <tutti/error.hpp>

#include "kernels/combine_families.hpp"

namespace tutti::kernels {

namespace {

[[noreturn]] void throw_undefined(ReduceKind op, DatatypeKind type) {
  throw Error(ErrorCode::invalid_op, std::string("operation ") + reduce_op_name(op) + " is not defined for datatype " +
                                         datatype_name(type) + "; tutti::is_defined tells which are");
}

bool combine_family(const CombineCall& call) {
  switch (call.type) {
    case DatatypeKind::int8:
    case DatatypeKind::int16:
    case DatatypeKind::int32:
    case DatatypeKind::int64:
    case DatatypeKind::uint8:
    case DatatypeKind::uint16:
    case DatatypeKind::uint32:
    case DatatypeKind::uint64:
    case DatatypeKind::logical8:
    case DatatypeKind::logical16:
    case DatatypeKind::logical32:
    case DatatypeKind::logical64:
      return combine_integers(call);
    case DatatypeKind::float32:
    case DatatypeKind::float64:
      return combine_float(call);
    case DatatypeKind::float16:
    case DatatypeKind::bfloat16:
    case DatatypeKind::float8_e4m3:
    case DatatypeKind::float8_e5m2:
      return combine_narrow(call);
    case DatatypeKind::complex64:
    case DatatypeKind::complex128:
      return combine_complex(call);
    case DatatypeKind::bytes:
      return false;
    default:
      return combine_pair(call);
  }
}

}  // namespace

void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output, std::size_t count) {
  if (inputs.empty()) throw Error(ErrorCode::invalid_argument, "combine: inputs is empty; it needs at least one");
  if (!is_defined(op.kind(), type.kind())) throw_undefined(op.kind(), type.kind());
  if (count == 0) return;
  if (op.kind() == ReduceKind::user) {
    combine_user(type, op, inputs, output, count);
  } else if (!combine_family({type.kind(), op.kind(), inputs, output, count})) {
    throw_undefined(op.kind(), type.kind());
  }
}

}  // namespace tutti::kernels
