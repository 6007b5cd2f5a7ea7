// SPDX-License-Identifier: BSD-3-Clause
#include "support/heap.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace tutti::test {
namespace {

constexpr int any_number = -1;
std::atomic<std::size_t> made{0};
std::atomic<std::size_t> taken{0};
std::atomic<int> left{any_number};
std::atomic<bool> refused{false};

// Not inlined, because GCC then takes malloc and free for a mismatch.
[[gnu::noinline]] void* take(std::size_t bytes) {
  made.fetch_add(1, std::memory_order_relaxed);
  taken.fetch_add(bytes, std::memory_order_relaxed);
  if (left == 0) {
    refused = true;
    return nullptr;
  }
  if (left > 0) --left;
  return std::malloc(bytes > 0 ? bytes : 1);
}

[[gnu::noinline]] void give(void* memory) { std::free(memory); }

}  // namespace

std::size_t allocated_bytes() { return taken.load(std::memory_order_relaxed); }

std::size_t allocations() { return made.load(std::memory_order_relaxed); }

void allow_allocations(int count) {
  refused = false;
  left = count;
}

bool allow_all_allocations() {
  left = any_number;
  return refused;
}

}  // namespace tutti::test

// With the forms that do not throw, which sanitizers else keep for themselves.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (void* memory = tutti::test::take(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*form*/) noexcept {
  return tutti::test::take(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { tutti::test::give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept { tutti::test::give(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t& /*form*/) noexcept {
  tutti::test::give(memory);
}
