// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/gradient_reducer.hpp>

namespace tutti::detail::reducer {

/// A rank's wrong use of the reducer in a step. It travels as one number, and the ranks take the largest of all, so
/// that every rank throws the same error.
struct Fault {
  enum class Kind : std::uint8_t { none = 0, missing = 1, changed = 2, twice = 3, out_of_range = 4 };

  Kind kind = Kind::none;
  int rank = 0;
  std::size_t parameter = 0;  ///< its index; a larger one than 32 bits hold is cut to the largest that they do

  [[nodiscard]] explicit operator bool() const { return kind != Kind::none; }
  [[nodiscard]] std::int64_t word() const;
  [[nodiscard]] static Fault from_word(std::int64_t word);
  /// Throws Error(invalid_argument) unless the kind is none. `first_number`: of the first parameter, in the message.
  void throw_as_error(std::span<const Parameter> parameters, std::size_t first_number) const;
};

}  // namespace tutti::detail::reducer
