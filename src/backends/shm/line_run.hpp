// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "backends/shm/layout.hpp"

/// Data in a run of lines, each of which carries its own flag (Exchange::line_flag()).
namespace tutti::detail::shm {

/// The size of a block, in front of it, where only its giver and its taker know it.
inline constexpr std::size_t size_head = sizeof(std::uint64_t);
inline void put_size(std::byte* block, std::uint64_t bytes) { std::memcpy(block - size_head, &bytes, size_head); }
[[nodiscard]] inline std::uint64_t size_before(const std::byte* block) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, block - size_head, size_head);
  return bytes;
}

/// Copies at least one and at most two times N bytes.
template <std::size_t N>
inline void copy_two(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::array<std::byte, N> first;
  std::array<std::byte, N> last;
  std::memcpy(first.data(), from, N);
  std::memcpy(last.data(), from + bytes - N, N);
  std::memcpy(to, first.data(), N);
  std::memcpy(to + bytes - N, last.data(), N);
}

/// Copies at most a line, by two moves that may overlap. A compiler that knows the bound may make a string instruction
/// of memcpy, which takes longer to begin than the copy takes.
inline void copy_in_line(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes >= 32) return copy_two<32>(to, from, bytes);
  if (bytes >= 16) return copy_two<16>(to, from, bytes);
  if (bytes >= 8) return copy_two<8>(to, from, bytes);
  if (bytes >= 4) return copy_two<4>(to, from, bytes);
  if (bytes >= 2) return copy_two<2>(to, from, bytes);
  if (bytes == 1) *to = *from;
}

/// The last flag orders all lines: nobody reads one before it has seen every flag.
inline void put_in_lines(Line* lines, std::uint64_t flag, const std::byte* from, std::size_t bytes) {
  for (; bytes > line_bytes; bytes -= line_bytes, from += line_bytes, ++lines) {
    std::memcpy(lines->payload, from, line_bytes);
    lines->flag.store(flag, std::memory_order_relaxed);
  }
  copy_in_line(lines->payload, from, bytes);
  lines->flag.store(flag, std::memory_order_release);
}

inline void get_from_lines(const Line* lines, std::byte* to, std::size_t bytes) {
  for (; bytes > line_bytes; bytes -= line_bytes, to += line_bytes, ++lines)
    std::memcpy(to, lines->payload, line_bytes);
  copy_in_line(to, lines->payload, bytes);
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
