// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "criteo_binary.hpp"

namespace tutti::miniapps {

/// One line of Criteo text: 40 tab-separated fields; empty ones are 0, negative integers become 0, categories are the
/// value of up to 8 hexadecimal digits.
struct CriteoLine {
  std::int32_t label = 0;
  std::array<std::int32_t, criteo_dense> dense{};
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

}  // namespace tutti::miniapps
