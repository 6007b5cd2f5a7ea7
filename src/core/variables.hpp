// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::detail {

/// An environment variable that the library, its tools or the mini-apps read.
struct Variable {
  std::string_view name;
  std::string_view meaning;
};

/// Whether a switch is on: 1, on or true; off: 0, off, false or no text. `otherwise`: if the variable is not set.
/// Throws tutti::Error for any other text.
[[nodiscard]] bool read_flag(const char* name, bool otherwise = false);

[[nodiscard]] std::span<const Variable> variables();

/// A line for each variable TUTTI_* that is set and that nobody reads, with the name that was probably meant. Variables
/// of tests and of the build are left alone.
[[nodiscard]] std::vector<std::string> unknown_variables();

/// The letters to change, add or remove between two words (Levenshtein).
[[nodiscard]] std::size_t edits(std::string_view a, std::string_view b);

/// Lines that TUTTI_LOG=1 and `tutti info` show: unknown variables, and a TUTTI_DATA_DIR that is not there.
[[nodiscard]] std::vector<std::string> doubtful_variables();

}  // namespace tutti::detail
