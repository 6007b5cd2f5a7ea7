// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace tutti::kernels
