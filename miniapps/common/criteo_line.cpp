// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_line.hpp"

#include <charconv>

namespace tutti::miniapps {

namespace {

constexpr std::size_t field_count = 1 + criteo_dense + criteo_tables;

template <typename T>
bool parse_number(std::string_view text, int base, T& value) {
  value = 0;
  if (text.empty()) {
    return true;
  }
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return status == std::errc() && end == text.data() + text.size();
}

/// The first characters of a field, which may be anything.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string shown(text.substr(0, most));
  for (char& c : shown) {
    c = c < ' ' || c > '~' ? '?' : c;
  }
  return "'" + shown + (text.size() > most ? "…' (" + std::to_string(text.size()) + " bytes)" : "'");
}

bool fail(CriteoLineFault& fault, std::size_t field, std::string what) {
  fault.field = field + 1;
  fault.what = std::move(what);
  return false;
}

bool parse_field(std::size_t field, std::string_view text, CriteoLine& line, CriteoLineFault& fault) {
  if (field == 0) {
    if (text != "0" && text != "1") {
      return fail(fault, field, "label " + quoted(text) + " is neither 0 nor 1");
    }
    line.label = text == "1" ? 1 : 0;
    return true;
  }
  if (field <= criteo_dense) {
    std::int32_t& value = line.dense[field - 1];
    if (!parse_number(text, 10, value)) {
      return fail(fault, field, quoted(text) + " is not a 32-bit integer");
    }
    value = value < 0 ? 0 : value;
    return true;
  }
  if (!parse_number(text, 16, line.hashes[field - 1 - criteo_dense])) {
    return fail(fault, field, quoted(text) + " is not a hexadecimal number of 32 bits");
  }
  return true;
}

}  // namespace

bool parse_criteo_line(std::string_view text, CriteoLine& line, CriteoLineFault& fault) {
  if (!text.empty() && text.back() == '\r') {
    text.remove_suffix(1);
  }
  std::size_t field = 0;
  std::size_t begin = 0;
  while (true) {
    const std::size_t tab = text.find('\t', begin);
    if (field == field_count) {
      return fail(fault, field, "more than 40 fields");
    }
    if (!parse_field(field, text.substr(begin, tab == std::string_view::npos ? tab : tab - begin), line, fault)) {
      return false;
    }
    ++field;
    if (tab == std::string_view::npos) {
      break;
    }
    begin = tab + 1;
  }
  return field == field_count || fail(fault, field, "only " + std::to_string(field) + " of 40 fields");
}

}  // namespace tutti::miniapps
