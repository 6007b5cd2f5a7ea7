// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "operation/signature.hpp"

namespace tutti::detail::tuning {

/// The cost class of combining elements of a type. If nothing is combined, all bytes cost the same.
enum class Arithmetic : std::uint8_t {
  moved,    ///< nothing is combined
  plain,    ///< integers, float32, float64, logicals
  narrow,   ///< 16- and 8-bit floats
  complex,  ///< complex64, complex128
  pair,     ///< value-index pairs
  user,     ///< a user's function
};
inline constexpr std::size_t arithmetic_classes = 6;

/// The datatypes that cost the same in a table of measurements.
struct TypeClass {
  Arithmetic arithmetic = Arithmetic::moved;
  std::size_t element_bytes = 1;  ///< 1 for data that is only moved

  friend bool operator==(const TypeClass&, const TypeClass&) = default;
};

[[nodiscard]] TypeClass type_class_of(const Signature& signature);

[[nodiscard]] std::string_view arithmetic_name(Arithmetic arithmetic);
/// Finds a value by name; returns false if there is none.
[[nodiscard]] bool find_arithmetic(std::string_view name, Arithmetic& arithmetic);

}  // namespace tutti::detail::tuning
