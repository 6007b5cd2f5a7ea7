// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tutti::kernels {
namespace {

std::size_t size_or(long found, std::size_t usual) noexcept {
  return found > 0 ? static_cast<std::size_t>(found) : usual;
}

/// A core's own caches, and the part of the last one beyond which memcpy streams by itself, in bytes.
struct Caches {
  std::size_t own = size_or(sysconf(_SC_LEVEL2_CACHE_SIZE), std::size_t{1} << 20U);
  std::size_t last = size_or(sysconf(_SC_LEVEL3_CACHE_SIZE), 0) / 2;
};

const Caches& caches() noexcept {
  static const Caches found;
  return found;
}

#if defined(__x86_64__)
constexpr std::size_t page = 4096;

/// The least time of some string moves of a page from `from` on, whose target begins `behind` bytes behind it.
std::chrono::nanoseconds time_of_move(std::byte* to, const std::byte* from, std::size_t behind) noexcept {
  using Clock = std::chrono::steady_clock;
  auto least = std::chrono::nanoseconds::max();
  for (int i = 0; i < 8; ++i) {
    void* target = to + behind;
    const void* source = from;
    std::size_t bytes = page;
    const auto begin = Clock::now();
    __asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
    least = std::min<std::chrono::nanoseconds>(least, Clock::now() - begin);
  }
  return least;
}

std::size_t measure_slow_distance() noexcept {
  constexpr int much = 4;
  alignas(page) static std::array<std::byte, 4 * page> room{};
  std::byte* to = room.data() + 2 * page;
  const auto fast = time_of_move(to, room.data(), 0);
  for (const std::size_t distance : {64, 32})
    if (time_of_move(to, room.data(), 3 * distance / 4) > much * fast) return distance;
  return 0;
}
#else
std::size_t measure_slow_distance() noexcept { return 0; }
#endif

}  // namespace

std::size_t slow_distance() noexcept {
  static const std::size_t found = measure_slow_distance();
  return found;
}

void copy_by_moves(void* to, const void* from, std::size_t bytes) noexcept {
  if (caches().last > 0 && bytes > caches().last) {  // memcpy goes past the caches
    std::memcpy(to, from, bytes);
    return;
  }
  constexpr std::size_t block = 128;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  std::size_t at = 0;
  for (; at + block <= bytes; at += block) {
    std::array<std::byte, block> moved;
    std::memcpy(moved.data(), source + at, block);
    std::memcpy(target + at, moved.data(), block);
  }
  std::memcpy(target + at, source + at, bytes - at);
}

bool exceeds_core_caches(std::size_t bytes) noexcept { return bytes > caches().own; }

void stream_copy(void* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t line = 64;
  constexpr std::size_t word = sizeof(__m128i);
  constexpr std::size_t ahead = 16 * line;
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  const std::size_t head = std::min((line - reinterpret_cast<std::uintptr_t>(target) % line) % line, bytes);
  std::memcpy(target, source, head);
  std::size_t at = head;
  for (; at + line <= bytes; at += line) {
    __builtin_prefetch(source + std::min(at + ahead, bytes - 1));
    for (std::size_t i = at; i < at + line; i += word)
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i)));
  }
  std::memcpy(target + at, source + at, bytes - at);
  // Whoever is told of the copy must see it.
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

void copy_buffer(void* to, const void* from, std::size_t bytes) noexcept {
  if (exceeds_core_caches(bytes) && bytes <= caches().last)
    stream_copy(to, from, bytes);
  else
    copy(to, from, bytes);
}

}  // namespace tutti::kernels
