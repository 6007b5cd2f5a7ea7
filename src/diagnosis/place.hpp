// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::detail {

/// A line of source, as addr2line gives it.
struct SourcePlace {
  std::string function;
  std::string file;  ///< empty: not known
  int line = 0;
};

/// The places in the output of `addr2line -f -C -i`: pairs of lines, a function and "file:line".
[[nodiscard]] std::vector<SourcePlace> parse_places(std::string_view output);

/// Whether a function belongs to the library, by its name, and not to a program that calls it.
[[nodiscard]] bool is_of_library(std::string_view function);

/// The first place that does not belong to the library, or else the last; null if there is none.
[[nodiscard]] const SourcePlace* first_of_program(const std::vector<SourcePlace>& places);

}  // namespace tutti::detail
