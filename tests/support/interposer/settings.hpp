// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/interposer/interposer.hpp"

namespace tutti::test::interposer {

/// The variables of interposer.hpp, as they were when the library was loaded.
struct Settings {
  std::uint64_t kernel_copy_ns = 0;
  std::uint64_t kernel_copy_ns_per_kib = 0;
  bool kernel_copy_refused = false;
  std::uint64_t memory_copy_ns_per_kib = 0;
  std::size_t memory_copy_from = 4096;
  std::uint64_t message_ns = 0;
  bool report = false;
};

/// Ends the process with 2 and a message if a variable is no number.
[[nodiscard]] const Settings& settings();

void count(Call call, std::uint64_t calls = 1) noexcept;

/// Waits without giving the core away, as a slow call does. Calls no function that copies memory.
void wait_ns(std::uint64_t nanoseconds) noexcept;

/// The next function of that name in the order in which the dynamic linker searches. Ends the process with 2 if there
/// is none.
template <typename Function>
[[nodiscard]] Function* next(const char* name);

[[noreturn]] void give_up(const char* what, const char* name) noexcept;

template <typename Function>
Function* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) give_up("there is no function", name);
  return reinterpret_cast<Function*>(found);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

}  // namespace tutti::test::interposer
