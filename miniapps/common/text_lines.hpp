// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace tutti::miniapps {

/// Without spaces, tabs and carriage returns at both ends.
[[nodiscard]] inline std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Whether all of `text` is one number, finite where it is of floating point; then `value` is it.
template <typename T>
[[nodiscard]] bool parse_whole(std::string_view text, T& value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if constexpr (std::is_floating_point_v<T>) {
    return status == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  } else {
    return status == std::errc() && end == text.data() + text.size();
  }
}

/// Calls action(line, number) for each line, numbers from 1; the last one may lack its newline.
template <typename Action>
void for_each_line(std::string_view content, Action&& action) {
  for (std::size_t number = 1; !content.empty(); ++number) {
    const auto end = content.find('\n');
    action(content.substr(0, end), number);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
  }
}

}  // namespace tutti::miniapps
