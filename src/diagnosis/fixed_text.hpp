// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace tutti::detail {

/// Writes a text and a zero into a row of fixed length. Keeps the begin of a text that is too long.
inline void keep_begin(std::string_view text, std::span<char> to) noexcept {
  const std::size_t kept = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), kept);
  to[kept] = '\0';
}

/// The same; keeps the end, which of a path tells more.
inline void keep_end(std::string_view text, std::span<char> to) noexcept {
  keep_begin(text.substr(text.size() - std::min(text.size(), to.size() - 1)), to);
}

}  // namespace tutti::detail
