// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "backends/shm/layout.hpp"

/// Data in a run of lines, each of which carries its own flag (Exchange::line_flag()).
namespace tutti::detail::shm {

inline void put_in_lines(Line* lines, std::uint64_t flag, const std::byte* from, std::size_t bytes) {
  for (; bytes > line_bytes; bytes -= line_bytes, from += line_bytes, ++lines) {
    std::memcpy(lines->payload, from, line_bytes);
    lines->flag.store(flag, std::memory_order_release);
  }
  if (bytes > 0) std::memcpy(lines->payload, from, bytes);
  lines->flag.store(flag, std::memory_order_release);
}

inline void get_from_lines(const Line* lines, std::byte* to, std::size_t bytes) {
  for (; bytes > line_bytes; bytes -= line_bytes, to += line_bytes, ++lines)
    std::memcpy(to, lines->payload, line_bytes);
  if (bytes > 0) std::memcpy(to, lines->payload, bytes);
}

/// The number of looks at a flag before a rank that has a core of its own does something else: to come back takes
/// longer than to look again.
inline constexpr int looks_at_flag = 16;

/// Returns true once `count` lines are there with that flag. `line` counts those that have been seen.
[[nodiscard]] inline bool have_arrived(const Line* lines, std::uint64_t flag, std::size_t count, std::size_t& line,
                                       int looks = 1) {
  for (; line < count; ++line) {
    int left = looks;
    while (lines[line].flag.load(std::memory_order_acquire) != flag)
      if (--left <= 0) return false;
  }
  return true;
}

}  // namespace tutti::detail::shm
