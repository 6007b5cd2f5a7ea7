// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/error.hpp>
#include <tutti/reduce_op.hpp>

#include "kernels/combine_pair_functors.hpp"

/// Finds the functor of a run-time type and operation. Each function calls visit(functor) and returns true, or returns
/// false if the operation is not defined. avg and premul_sum visit the sum.
namespace tutti::kernels {

template <typename Signed, typename Visit>
bool visit_integer(ReduceKind op, bool is_signed, Visit&& visit) {
  using Unsigned = std::make_unsigned_t<Signed>;
  const auto extremum = [&]<bool Max>(std::bool_constant<Max>) {
    if (is_signed) {
      visit(ExtremumFunctor<Signed, Max>{});
    } else {
      visit(ExtremumFunctor<Unsigned, Max>{});
    }
  };
  switch (op) {
    case ReduceKind::sum:
    case ReduceKind::avg:
      return visit(SumFunctor<Unsigned>{}), true;
    case ReduceKind::prod:
      return visit(ProdFunctor<Unsigned>{}), true;
    case ReduceKind::min:
      return extremum(std::false_type{}), true;
    case ReduceKind::max:
      return extremum(std::true_type{}), true;
    case ReduceKind::band:
      return visit(BitFunctor<Unsigned, BitOperation::conjunction>{}), true;
    case ReduceKind::bor:
      return visit(BitFunctor<Unsigned, BitOperation::disjunction>{}), true;
    case ReduceKind::bxor:
      return visit(BitFunctor<Unsigned, BitOperation::exclusion>{}), true;
    case ReduceKind::land:
      return visit(LogicalFunctor<Unsigned, BitOperation::conjunction>{}), true;
    case ReduceKind::lor:
      return visit(LogicalFunctor<Unsigned, BitOperation::disjunction>{}), true;
    case ReduceKind::lxor:
      return visit(LogicalFunctor<Unsigned, BitOperation::exclusion>{}), true;
    default:
      return false;
  }
}

/// The same of a run-time type: the widths and signs of integers and logicals.
template <typename Visit>
bool visit_integer(DatatypeKind type, ReduceKind op, const Visit& visit) {
  switch (type) {
    case DatatypeKind::int8:
    case DatatypeKind::uint8:
    case DatatypeKind::logical8:
      return visit_integer<std::int8_t>(op, type == DatatypeKind::int8, visit);
    case DatatypeKind::int16:
    case DatatypeKind::uint16:
    case DatatypeKind::logical16:
      return visit_integer<std::int16_t>(op, type == DatatypeKind::int16, visit);
    case DatatypeKind::int32:
    case DatatypeKind::uint32:
    case DatatypeKind::logical32:
      return visit_integer<std::int32_t>(op, type == DatatypeKind::int32, visit);
    default:
      return visit_integer<std::int64_t>(op, type == DatatypeKind::int64, visit);
  }
}

template <typename F, typename Visit>
bool visit_float(ReduceKind op, Visit&& visit) {
  switch (op) {
    case ReduceKind::sum:
    case ReduceKind::avg:
    case ReduceKind::premul_sum:
      return visit(SumFunctor<F>{}), true;
    case ReduceKind::prod:
      return visit(ProdFunctor<F>{}), true;
    case ReduceKind::min:
      return visit(ExtremumFunctor<F, false>{}), true;
    case ReduceKind::max:
      return visit(ExtremumFunctor<F, true>{}), true;
    default:
      return false;
  }
}

template <typename V, typename I, typename Visit>
bool visit_pair(ReduceKind op, Visit&& visit) {
  switch (op) {
    case ReduceKind::minloc:
      return visit(LocationFunctor<V, I, false>{}), true;
    case ReduceKind::maxloc:
      return visit(LocationFunctor<V, I, true>{}), true;
    default:
      return false;
  }
}

template <typename Visit>
bool visit_pair(DatatypeKind type, ReduceKind op, const Visit& visit) {
  switch (type) {
    case DatatypeKind::float32_int32:
      return visit_pair<float, std::int32_t>(op, visit);
    case DatatypeKind::float64_int32:
      return visit_pair<double, std::int32_t>(op, visit);
    case DatatypeKind::int32_int32:
      return visit_pair<std::int32_t, std::int32_t>(op, visit);
    case DatatypeKind::int64_int32:
      return visit_pair<std::int64_t, std::int32_t>(op, visit);
    case DatatypeKind::int64_int64:
      return visit_pair<std::int64_t, std::int64_t>(op, visit);
    case DatatypeKind::float64_int64:
      return visit_pair<double, std::int64_t>(op, visit);
    case DatatypeKind::float32_float32:
      return visit_pair<float, float>(op, visit);
    default:
      return visit_pair<double, double>(op, visit);
  }
}

/// Calls visit(F*, values an element), for averages and factors; false where the type is not one of floating-point
/// numbers.
template <typename Visit>
bool visit_floating(DatatypeKind type, const Visit& visit) {
  switch (type) {
    case DatatypeKind::float8_e4m3:
      return visit(static_cast<float8_e4m3_t*>(nullptr), 1), true;
    case DatatypeKind::float8_e5m2:
      return visit(static_cast<float8_e5m2_t*>(nullptr), 1), true;
    case DatatypeKind::float16:
      return visit(static_cast<float16_t*>(nullptr), 1), true;
    case DatatypeKind::bfloat16:
      return visit(static_cast<bfloat16_t*>(nullptr), 1), true;
    case DatatypeKind::float32:
      return visit(static_cast<float*>(nullptr), 1), true;
    case DatatypeKind::float64:
      return visit(static_cast<double*>(nullptr), 1), true;
    case DatatypeKind::complex64:
      return visit(static_cast<float*>(nullptr), 2), true;
    case DatatypeKind::complex128:
      return visit(static_cast<double*>(nullptr), 2), true;
    default:
      return false;
  }
}

template <typename Visit>
bool visit_number(DatatypeKind type, const Visit& visit) {
  switch (type) {
    case DatatypeKind::int8:
      return visit(static_cast<std::int8_t*>(nullptr), 1), true;
    case DatatypeKind::int16:
      return visit(static_cast<std::int16_t*>(nullptr), 1), true;
    case DatatypeKind::int32:
      return visit(static_cast<std::int32_t*>(nullptr), 1), true;
    case DatatypeKind::int64:
      return visit(static_cast<std::int64_t*>(nullptr), 1), true;
    case DatatypeKind::uint8:
      return visit(static_cast<std::uint8_t*>(nullptr), 1), true;
    case DatatypeKind::uint16:
      return visit(static_cast<std::uint16_t*>(nullptr), 1), true;
    case DatatypeKind::uint32:
      return visit(static_cast<std::uint32_t*>(nullptr), 1), true;
    case DatatypeKind::uint64:
      return visit(static_cast<std::uint64_t*>(nullptr), 1), true;
    default:
      return visit_floating(type, visit);
  }
}

[[noreturn]] inline void throw_undefined(const char* what, DatatypeKind type) {
  throw Error(ErrorCode::invalid_op, std::string(what) + " is not defined for datatype " + datatype_name(type));
}

}  // namespace tutti::kernels
