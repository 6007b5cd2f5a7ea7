// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/stream_copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
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

}  // namespace

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
    std::memcpy(to, from, bytes);
}

}  // namespace tutti::kernels
