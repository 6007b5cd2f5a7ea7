// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::command_line {

/// A number that a command line can name.
template <typename T>
concept Number = std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t> ||
    std::same_as<T, std::uint64_t> || std::same_as<T, double>;

/// The values that an option takes. Both ends belong to it, except where said.
template <Number T>
struct NumberRange {
  T least{};
  T most = std::numeric_limits<T>::max();
  bool above_least = false;  ///< without `least` itself
  bool below_most = false;   ///< without `most` itself

  [[nodiscard]] bool holds(T value) const {
    return (above_least ? value > least : value >= least) && (below_most ? value < most : value <= most);
  }
  /// "[0, 1)".
  [[nodiscard]] std::string text() const;
};

/// The whole text as a number of the range. Throws std::invalid_argument, which names the text and the range.
template <Number T>
[[nodiscard]] T parse_number(std::string_view text, const NumberRange<T>& range);

/// The whole text as a number of bytes of the range: 4096, 64K, 25M, 2G, 1T, also 64KB and 64KiB; K is 1024. Throws
/// std::invalid_argument, which names the text and the range.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text, const NumberRange<std::uint64_t>& range);

/// "64K" where that is exact, else the number.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

/// "[1, 16M]".
[[nodiscard]] std::string bytes_text(const NumberRange<std::uint64_t>& range);

/// The parts between separators; two separators in a row have an empty part between them.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace tutti::command_line
