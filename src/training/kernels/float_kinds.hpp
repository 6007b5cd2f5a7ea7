// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/datatype.hpp>
#include <tutti/error.hpp>
#include <tutti/float_types.hpp>

namespace tutti::kernels {

/// Calls body with a number of the type: one of the four that norms and segmented sums take, on host and device. Throws
/// Error(invalid_datatype) in the name of the function.
template <typename Body>
auto with_float(const char* function, DatatypeKind type, const Body& body) {
  switch (type) {
    case DatatypeKind::float32:
      return body(float{});
    case DatatypeKind::float64:
      return body(double{});
    case DatatypeKind::float16:
      return body(float16_t{});
    case DatatypeKind::bfloat16:
      return body(bfloat16_t{});
    default:
      throw Error(ErrorCode::invalid_datatype, std::string(function) + ": type is " + datatype_name(type) +
                                                   "; it must be float32, float64, float16 or bfloat16");
  }
}

}  // namespace tutti::kernels
