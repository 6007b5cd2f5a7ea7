// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <ctime>

namespace tutti::detail::flight {

[[nodiscard]] inline std::uint64_t nanoseconds(clockid_t clock) noexcept {
  std::timespec time{};
  (void)clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// A clock that is read in a few nanoseconds: the processor's counter, of which two readings beside the system's clock
/// give the length of a tick, or else the system's clock itself.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return nanoseconds(CLOCK_MONOTONIC);
#endif
}

/// The same moment on three clocks.
struct Moment {
  std::uint64_t ticks = 0;
  std::uint64_t monotonic = 0;  ///< nanoseconds
  std::uint64_t realtime = 0;   ///< nanoseconds since 1970

  [[nodiscard]] static Moment now() noexcept {
    return {flight::ticks(), nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_REALTIME)};
  }
};

}  // namespace tutti::detail::flight
