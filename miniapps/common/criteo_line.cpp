// SPDX-License-Identifier: BSD-3-Clause
#include "criteo_line.hpp"

#include <algorithm>

namespace tutti::miniapps {

namespace {

constexpr std::size_t field_count = 1 + criteo_dense + criteo_tables;
constexpr unsigned no_digit = 16;

/// The value of each character as a digit.
constexpr auto digits = [] {
  std::array<unsigned char, 256> values{};
  values.fill(no_digit);
  for (unsigned d = 0; d < 10; ++d) {
    values['0' + d] = static_cast<unsigned char>(d);
  }
  for (unsigned d = 0; d < 6; ++d) {
    values['a' + d] = values['A' + d] = static_cast<unsigned char>(10 + d);
  }
  return values;
}();

/// Reads digits from `at` up to the next tab or `end`; false where one is not of the base or the number is too large.
template <unsigned base>
bool read_digits(const char*& at, const char* end, std::uint64_t limit, std::uint64_t& value) {
  value = 0;
  unsigned worst = 0;
  bool is_large = false;
  for (; at != end && *at != '\t'; ++at) {
    const unsigned digit = digits[static_cast<unsigned char>(*at)];
    worst = digit > worst ? digit : worst;
    value = value * base + digit;
    is_large |= value > limit;
  }
  return worst < base && !is_large;
}

bool read_signed(const char*& at, const char* end, std::int32_t& value) {
  constexpr std::uint64_t most = 0x7fffffff;
  const bool is_negative = at != end && *at == '-';
  at += is_negative ? 1 : 0;
  const char* first = at;
  std::uint64_t size = 0;
  const bool is_number = read_digits<10>(at, end, most + (is_negative ? 1 : 0), size) && (!is_negative || at != first);
  value = static_cast<std::int32_t>(is_negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size));
  return is_number;
}

bool read_label(const char*& at, const char* end, std::int32_t& value) {
  const bool is_label = at != end && (*at == '0' || *at == '1') && (at + 1 == end || at[1] == '\t');
  value = is_label ? *at - '0' : 0;
  at += is_label ? 1 : 0;
  return is_label;
}

bool read_hash(const char*& at, const char* end, std::uint32_t& value) {
  std::uint64_t wide = 0;
  const bool is_hash = read_digits<16>(at, end, 0xffffffff, wide);
  value = static_cast<std::uint32_t>(wide);
  return is_hash;
}

bool read_field(std::size_t field, const char*& at, const char* end, CriteoLine& line) {
  if (field == 0) {
    return read_label(at, end, line.label);
  }
  return field <= criteo_dense ? read_signed(at, end, line.dense[field - 1])
                               : read_hash(at, end, line.hashes[field - 1 - criteo_dense]);
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

bool fail_field(CriteoLineFault& fault, std::size_t field, std::string_view rest) {
  const std::string text = quoted(rest.substr(0, rest.find('\t')));
  if (field == 0) {
    return fail(fault, field, "label " + text + " is neither 0 nor 1");
  }
  return fail(fault, field,
              text + (field <= criteo_dense ? " is not a 32-bit integer" : " is not a hexadecimal number of 32 bits"));
}

}  // namespace

bool parse_criteo_line(std::string_view text, CriteoLine& line, CriteoLineFault& fault) {
  if (!text.empty() && text.back() == '\r') {
    text.remove_suffix(1);
  }
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t field = 0; field < field_count; ++field) {
    const char* const begin = at;
    if (!read_field(field, at, end, line)) {
      return fail_field(fault, field, {begin, static_cast<std::size_t>(end - begin)});
    }
    if (field + 1 == field_count) {
      break;
    }
    if (at == end) {
      return fail(fault, field + 1, "only " + std::to_string(field + 1) + " of 40 fields");
    }
    ++at;
  }
  return at == end || fail(fault, field_count, "more than 40 fields");
}

CriteoRecord criteo_record(const CriteoLine& line) {
  CriteoRecord record{line.label, line.dense, {}};
  for (std::int32_t& value : record.dense) {
    value = std::max(value, 0);
  }
  return record;
}

}  // namespace tutti::miniapps
