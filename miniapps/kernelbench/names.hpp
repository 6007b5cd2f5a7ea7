// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>
#include <tutti/datatype.hpp>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/reduce_op.hpp>

namespace tutti::kernelbench {

inline DatatypeKind datatype_named(const std::string& name) {
  for (int k = 1; k <= static_cast<int>(DatatypeKind::logical64); ++k) {
    if (name == datatype_name(static_cast<DatatypeKind>(k))) return static_cast<DatatypeKind>(k);
  }
  throw std::invalid_argument("--type: there is no datatype " + name);
}

inline ReduceKind op_named(const std::string& name) {
  for (int k = 1; k <= static_cast<int>(ReduceKind::maxloc); ++k) {
    if (name == reduce_op_name(static_cast<ReduceKind>(k))) return static_cast<ReduceKind>(k);
  }
  throw std::invalid_argument("--op: there is no operation " + name);
}

inline kernels::RowOptimizer optimizer_named(const std::string& name) {
  using kernels::RowOptimizer;
  if (name == "sgd") return RowOptimizer::sgd;
  if (name == "adagrad") return RowOptimizer::adagrad;
  if (name == "adam") return RowOptimizer::adam;
  return RowOptimizer::row_wise_adagrad;
}

}  // namespace tutti::kernelbench
