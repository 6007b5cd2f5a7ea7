// SPDX-License-Identifier: BSD-3-Clause
#include "planner/type_class.hpp"

#include <algorithm>
#include <array>

namespace tutti::detail::tuning {
namespace {

constexpr std::array<std::string_view, arithmetic_classes> names = {"moved",   "plain", "narrow",
                                                                    "complex", "pair",  "user"};

Arithmetic arithmetic_of(DatatypeKind kind) {
  switch (kind) {
    case DatatypeKind::float8_e4m3:
    case DatatypeKind::float8_e5m2:
    case DatatypeKind::float16:
    case DatatypeKind::bfloat16:
      return Arithmetic::narrow;
    case DatatypeKind::complex64:
    case DatatypeKind::complex128:
      return Arithmetic::complex;
    case DatatypeKind::float32_int32:
    case DatatypeKind::float64_int32:
    case DatatypeKind::int32_int32:
    case DatatypeKind::int64_int32:
    case DatatypeKind::int64_int64:
    case DatatypeKind::float64_int64:
    case DatatypeKind::float32_float32:
    case DatatypeKind::float64_float64:
      return Arithmetic::pair;
    default:
      return Arithmetic::plain;
  }
}

}  // namespace

TypeClass type_class_of(const Signature& signature) {
  if (!combines(signature.operation)) return {};
  const Arithmetic arithmetic =
      signature.op == ReduceKind::user ? Arithmetic::user : arithmetic_of(signature.type.kind());
  return {arithmetic, signature.type.size()};
}

std::string_view arithmetic_name(Arithmetic arithmetic) { return names[static_cast<std::size_t>(arithmetic)]; }

bool find_arithmetic(std::string_view name, Arithmetic& arithmetic) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return false;
  arithmetic = static_cast<Arithmetic>(found - names.begin());
  return true;
}

}  // namespace tutti::detail::tuning
