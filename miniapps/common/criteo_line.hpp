// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "criteo_binary.hpp"

namespace tutti::miniapps {

/// One line of Criteo text: 40 tab-separated fields; empty ones are 0, categories are the value of up to 8 hexadecimal
/// digits.
struct CriteoLine {
  std::int32_t label = 0;
  std::array<std::int32_t, criteo_dense> dense{};  ///< as written, some are negative
  std::array<std::uint32_t, criteo_tables> hashes{};
};

/// What is wrong with a line: field is counted from 1.
struct CriteoLineFault {
  std::size_t field = 0;
  std::string what;
};

/// Parses `text` (without the line end; a carriage return before it is allowed). False, with `fault` filled, for a
/// malformed line. Local; no allocation for good lines.
bool parse_criteo_line(std::string_view text, CriteoLine& line, CriteoLineFault& fault);

/// The record of a line as the reference makes it: without numbers of categories; negative integers become 0.
[[nodiscard]] CriteoRecord criteo_record(const CriteoLine& line);

/// Takes the first line off `text`, which may lack its newline; gives it without.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Without the blank lines at the end.
[[nodiscard]] inline std::string_view without_blank_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of("\r\n") + 1);
}

}  // namespace tutti::miniapps
