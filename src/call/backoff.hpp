// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace tutti::detail {

/// The wait between two polls: spins while there are cores for all ranks, then yields, then asks the caller to sleep.
class Backoff {
 public:
  explicit Backoff(bool oversubscribed) noexcept : spins_left_(oversubscribed ? 0 : spins) {}

  /// Returns false when it is time to sleep; the caller sleeps.
  [[nodiscard]] bool pause() noexcept {
    ++polls_;
    if (polls_ <= spins_left_) {
#if defined(__x86_64__)
      if (polls_ > eager_polls) __builtin_ia32_pause();
#endif
      return true;
    }
    if (polls_ > spins_left_ + yields) return false;
    sched_yield();
    return true;
  }

  /// The sleep of a thread that nothing can wake: 20 microseconds.
  static void sleep() noexcept {
    constexpr timespec shortly{0, 20'000};
    nanosleep(&shortly, nullptr);
  }

  [[nodiscard]] std::uint64_t polls() const noexcept { return polls_; }
  /// Now and then while it yields, which takes a while where other programs want the core.
  [[nodiscard]] bool is_time_to_look() const noexcept {
    constexpr std::uint64_t yields_per_look = 16;
    return polls_ > spins_left_ && polls_ % yields_per_look == 0;
  }

  /// The number of yields before a rank sleeps. Tests lower it, so that ranks soon sleep.
  static inline std::uint64_t yields = 20'000;

 private:
  static constexpr std::uint64_t eager_polls = 32;
  static constexpr std::uint64_t spins = 2'000;
  std::uint64_t polls_ = 0;
  std::uint64_t spins_left_;
};

}  // namespace tutti::detail
