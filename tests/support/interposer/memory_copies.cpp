// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstddef>

#include "support/interposer/settings.hpp"

namespace tutti::test::interposer {
namespace {

using Copy = void*(void*, const void*, std::size_t);

// Null until this library's constructor has run; others copy before.
constinit std::atomic<Copy*> real_memcpy{nullptr};
constinit std::atomic<Copy*> real_memmove{nullptr};
constinit std::atomic<std::size_t> shortest{~std::size_t{0}};

__attribute__((constructor)) void find_copies() {
  real_memcpy = next<Copy>("memcpy");
  real_memmove = next<Copy>("memmove");
  if (settings().memory_copy_ns_per_kib > 0) shortest = settings().memory_copy_from;
}

/// Copies byte by byte, in an order that is right for buffers that overlap.
void* copy_slowly(void* to, const void* from, std::size_t bytes) noexcept {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const bool backwards = in < out;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t k = backwards ? bytes - 1 - i : i;
    out[k] = in[k];
    asm volatile("" ::: "memory");  // NOLINT: else the compiler makes the loop a call of memmove
  }
  return to;
}

void* copy(const std::atomic<Copy*>& real, void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes >= shortest.load(std::memory_order_relaxed)) {
    count(Call::memory_copy);
    wait_ns(bytes * settings().memory_copy_ns_per_kib / 1024);
  }
  Copy* const found = real.load(std::memory_order_relaxed);
  return found != nullptr ? found(to, from, bytes) : copy_slowly(to, from, bytes);
}

}  // namespace
}  // namespace tutti::test::interposer

using namespace tutti::test::interposer;

extern "C" void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) noexcept {
  return copy(real_memcpy, to, from, bytes);
}

extern "C" void* memmove(void* to, const void* from, std::size_t bytes) noexcept {
  return copy(real_memmove, to, from, bytes);
}
