// SPDX-License-Identifier: BSD-3-Clause
#include "numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <type_traits>

namespace tutti::command_line {

namespace {

constexpr std::array<char, 4> units = {'K', 'M', 'G', 'T'};

/// The power of 1024 that a unit stands for, -1 where it is none: "K", "k", "KB", "KiB", "B", "".
int power_of(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if ((unit.front() & ~0x20) != units[i]) continue;
    const std::string_view rest = unit.substr(1);
    return rest.empty() || rest == "B" || rest == "b" || rest == "iB" ? static_cast<int>(i) + 1 : -1;
  }
  return -1;
}

/// A leading plus sign is no more than that.
std::string_view without_plus(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return has_plus ? text.substr(1) : text;
}

}  // namespace

template <Number T>
std::string NumberRange<T>::text() const {
  return fmt::format("{}{}, {}{}", above_least ? '(' : '[', least, most, below_most ? ')' : ']');
}

template <Number T>
T parse_number(std::string_view text, const NumberRange<T>& range) {
  const std::string_view digits = without_plus(text);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
  if (is_number && range.holds(value)) return value;  // a NaN is in no range
  constexpr const char* kind = std::is_floating_point_v<T> ? "number" : "whole number";
  throw std::invalid_argument(fmt::format("'{}' is not a {} in {}", text, kind, range.text()));
}

std::uint64_t parse_bytes(std::string_view text, const NumberRange<std::uint64_t>& range) {
  const std::string_view digits = without_plus(text);
  std::uint64_t value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  const int power = error == std::errc{} ? power_of({end, static_cast<std::size_t>(last - end)}) : -1;
  const unsigned shift = power < 0 ? 0 : 10 * static_cast<unsigned>(power);
  if (power >= 0 && value <= std::numeric_limits<std::uint64_t>::max() >> shift && range.holds(value << shift))
    return value << shift;
  throw std::invalid_argument(
      fmt::format("'{}' is not a size in bytes in {}, such as 4096, 64K or 25M", text, bytes_text(range)));
}

std::string bytes_text(std::uint64_t bytes) {
  std::size_t power = 0;
  for (; bytes > 0 && bytes % 1024 == 0 && power < units.size(); ++power) bytes /= 1024;
  return power == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, units[power - 1]);
}

std::string bytes_text(const NumberRange<std::uint64_t>& range) {
  return fmt::format("[{}, {}]", bytes_text(range.least), bytes_text(range.most));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

template struct NumberRange<int>;
template struct NumberRange<std::int64_t>;
template struct NumberRange<std::uint32_t>;
template struct NumberRange<std::uint64_t>;
template struct NumberRange<double>;
template int parse_number(std::string_view, const NumberRange<int>&);
template std::int64_t parse_number(std::string_view, const NumberRange<std::int64_t>&);
template std::uint32_t parse_number(std::string_view, const NumberRange<std::uint32_t>&);
template std::uint64_t parse_number(std::string_view, const NumberRange<std::uint64_t>&);
template double parse_number(std::string_view, const NumberRange<double>&);

}  // namespace tutti::command_line
