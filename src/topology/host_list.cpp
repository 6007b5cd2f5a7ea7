// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <optional>

#include "topology/network_source.hpp"

namespace tutti::detail {
namespace {

/// The part up to the next separator outside brackets, which leaves the text.
std::string_view take_item(std::string_view& text, char separator) {
  int depth = 0;
  std::size_t end = 0;
  for (; end < text.size() && (depth > 0 || text[end] != separator); ++end)
    depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
  const std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return item;
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

/// Whether "7" or "03-12" has a number with these digits. Those that begin with 0 all have one length.
bool range_has(std::string_view range, std::string_view digits) {
  const std::string_view first = range.substr(0, range.find('-'));
  const std::string_view last = first.size() < range.size() ? range.substr(first.size() + 1) : first;
  const auto least = number_of(first);
  const auto most = number_of(last);
  const auto number = number_of(digits);
  if (!least || !most || !number || *number < *least || *number > *most) return false;
  const bool is_padded = digits.size() > 1 && digits.front() == '0';
  return digits.size() == first.size() || (digits.size() > first.size() && !is_padded);
}

bool ranges_have(std::string_view ranges, std::string_view digits) {
  while (!ranges.empty())
    if (range_has(take_item(ranges, ','), digits)) return true;
  return false;
}

bool item_has(std::string_view item, std::string_view name) {
  const std::size_t open = item.find('[');
  const std::string_view letters = item.substr(0, open);
  if (open == std::string_view::npos) return item == name;
  const std::size_t close = item.find(']', open);
  if (close == std::string_view::npos || !name.starts_with(letters)) return false;
  name.remove_prefix(letters.size());
  const std::string_view ranges = item.substr(open + 1, close - open - 1);
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  // Digits of the name may belong to what follows the bracket.
  for (std::size_t count = digits; count > 0; --count)
    if (ranges_have(ranges, name.substr(0, count)) && item_has(item.substr(close + 1), name.substr(count))) return true;
  return false;
}

}  // namespace

bool host_list_has(std::string_view list, std::string_view name) {
  while (!list.empty())
    if (item_has(take_item(list, ','), name)) return !name.empty();
  return false;
}

}  // namespace tutti::detail
