// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/buffer.hpp>
#include <tutti/detail/fixed_point.hpp>

namespace tutti::kernels::exact {

/// The real or the imaginary part of the elements of a buffer in host memory; of real ones all is real.
struct Operand {
  const ConstBuffer* buffer = nullptr;  ///< null: there is none
  std::size_t first = 0;
  bool is_imaginary = false;
};

/// What a sum adds up: `count` elements of the values, times those of the factors, where the mask is not zero.
struct Terms {
  Operand values{};
  Operand factors{};
  Operand mask{};
  std::size_t count = 0;
  bool is_negative = false;        ///< subtracts them
  const double* centre = nullptr;  ///< adds up (value - *centre)^2 instead of the values, each rounded
};

/// Adds the terms without rounding. Values and factors are of type float32, float64, float16 or bfloat16, or complex;
/// the mask is of logical or integer type.
void add_terms(detail::FixedPoint& sum, const Terms& terms) noexcept;

/// The smallest, or the largest, value where the mask is not zero, as minloc and maxloc choose it; indices count from
/// first_index. Without one: a value that loses against all others, and the highest index.
[[nodiscard]] Float64Int64 locate(const Terms& terms, bool is_for_largest, std::int64_t first_index) noexcept;

[[nodiscard]] bool is_summable(DatatypeKind kind) noexcept;
[[nodiscard]] bool is_mask(DatatypeKind kind) noexcept;
[[nodiscard]] inline bool is_complex(DatatypeKind kind) noexcept {
  return kind == DatatypeKind::complex64 || kind == DatatypeKind::complex128;
}
/// Returns true if the numbers, or the parts of complex ones, are float64.
[[nodiscard]] inline bool is_double(DatatypeKind kind) noexcept {
  return kind == DatatypeKind::float64 || kind == DatatypeKind::complex128;
}

/// Writes a number that its type holds to an array of real numbers, or of the parts of complex ones.
void write(DatatypeKind kind, void* numbers, std::size_t index, double value) noexcept;

}  // namespace tutti::kernels::exact
