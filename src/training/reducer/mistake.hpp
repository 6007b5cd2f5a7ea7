// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/gradient_reducer.hpp>

namespace tutti::detail::reducer {

/// What a rank did wrong in a step. It travels as one number, of which the ranks take the largest, so that all throw
/// the same.
struct Mistake {
  enum class Kind : std::uint8_t { none = 0, missing = 1, changed = 2, twice = 3, out_of_range = 4 };

  Kind kind = Kind::none;
  int rank = 0;
  std::size_t parameter = 0;  ///< its number, as far as 32 bits go

  [[nodiscard]] explicit operator bool() const { return kind != Kind::none; }
  [[nodiscard]] std::int64_t word() const;
  [[nodiscard]] static Mistake from_word(std::int64_t word);
  /// Throws Error(invalid_argument), if it is one.
  void throw_as_error(std::span<const Parameter> parameters) const;
};

}  // namespace tutti::detail::reducer
