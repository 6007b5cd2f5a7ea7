// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::kernels {

/// String moves of some processors take 20 times as long if the target begins a few bytes behind the source, counted in
/// a page (AMD Zen 3 and 4; bug 30994 of glibc). memcpy of some versions uses them, and Linux does for copies between
/// processes. Returns the distance in bytes from which on they are fast, 0 if they always are: measured once, by string
/// moves of some microseconds.
[[nodiscard]] std::size_t slow_distance() noexcept;

/// Returns true if string moves from one address to another are slow.
[[nodiscard]] inline bool is_slow_move(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) noexcept {
  constexpr std::size_t shortest = 2048;  // shorter ones are not made by string moves
  constexpr std::size_t page = 4096;
  constexpr std::size_t most = 64;
  const std::size_t behind = (to - from) % page;
  return bytes >= shortest && behind - 1 < most - 1 && behind < slow_distance();
}

/// Copies by loads and stores. The two must not overlap.
void copy_by_moves(void* to, const void* from, std::size_t bytes) noexcept;

/// Copies as memcpy does, and by loads and stores where string moves are slow. The two must not overlap.
inline void copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (is_slow_move(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), bytes)) [[unlikely]]
    copy_by_moves(to, from, bytes);
  else
    std::memcpy(to, from, bytes);
}

/// Returns true if data of this size are longer than the caches of one core.
[[nodiscard]] bool exceeds_core_caches(std::size_t bytes) noexcept;

/// Copies past the caches where the processor can: the target's old lines are not read first, and its new ones displace
/// nothing. For a piece of data that a core would not find in its caches afterwards anyway. The two must not overlap.
void stream_copy(void* to, const void* from, std::size_t bytes) noexcept;

/// Copies a whole buffer, past the caches where that is faster. The two must not overlap.
void copy_buffer(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace tutti::kernels
