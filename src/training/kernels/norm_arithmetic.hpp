// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/norms.hpp>
#include <type_traits>

/// The arithmetic of norms, for host and device: blocks of elements, each with sixteen lanes that take every sixteenth
/// element.
namespace tutti::kernels {

inline constexpr std::size_t norm_block = 8192;
inline constexpr std::size_t norm_lanes = 16;
/// Blocks are joined in their order, so many at a time, and then the results of these parts in theirs.
inline constexpr std::size_t norm_part_blocks = 256;

TUTTI_FUNCTION double magnitude(double x) { return std::fabs(x); }
TUTTI_FUNCTION double magnitude(float x) { return std::fabs(static_cast<double>(x)); }
TUTTI_FUNCTION double magnitude(bfloat16_t x) { return std::fabs(static_cast<double>(static_cast<float>(x))); }
TUTTI_FUNCTION double magnitude(float16_t x) { return std::fabs(static_cast<double>(detail::widen_float16(x.bits))); }

template <Norm Kind>
TUTTI_FUNCTION double norm_join(double a, double b) {
  if constexpr (Kind == Norm::linf) return b > a || b != b ? b : a;
  return a + b;
}

template <Norm Kind, typename T>
TUTTI_FUNCTION double norm_term(T x) {
  const double size = magnitude(x);
  return Kind == Norm::l2 ? size * size : size;
}

/// Joins the lanes as a tree into the first.
template <Norm Kind>
TUTTI_FUNCTION void norm_tree(double* lanes) {
  for (std::size_t width = norm_lanes / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) lanes[k] = norm_join<Kind>(lanes[k], lanes[k + width]);
  }
}

/// Joins the values at equal distances in their order.
template <Norm Kind>
TUTTI_FUNCTION double norm_sequence(const double* values, std::size_t count, std::size_t distance) {
  double total = 0;
  for (std::size_t k = 0; k < count; ++k) total = norm_join<Kind>(total, values[k * distance]);
  return total;
}

/// Calls body with the norm as a constant type. Throws Error(invalid_argument) in the name of the function.
template <typename Body>
auto with_norm(const char* function, Norm norm, const Body& body) {
  switch (norm) {
    case Norm::l1:
      return body(std::integral_constant<Norm, Norm::l1>());
    case Norm::l2:
      return body(std::integral_constant<Norm, Norm::l2>());
    case Norm::linf:
      return body(std::integral_constant<Norm, Norm::linf>());
  }
  throw Error(ErrorCode::invalid_argument, std::string(function) + ": not one of l1, l2 and linf");
}

}  // namespace tutti::kernels
