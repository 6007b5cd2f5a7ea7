// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>
#include <time.h>

#include <cstdint>

namespace tutti::detail {

/// How a thread passes the time between two looks: spin while there are cores for all ranks, then yield, then sleep.
class Waiting {
 public:
  explicit Waiting(bool oversubscribed) noexcept : spins_left_(oversubscribed ? 0 : spins) {}

  void pause() noexcept {
    ++looks_;
    if (looks_ <= spins_left_) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      return;
    }
    if (looks_ <= spins_left_ + yields) {
      sched_yield();
      return;
    }
    const timespec nap{0, 20'000};
    nanosleep(&nap, nullptr);
  }

  [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }

 private:
  static constexpr std::uint64_t spins = 2'000;
  static constexpr std::uint64_t yields = 200'000;
  std::uint64_t looks_ = 0;
  std::uint64_t spins_left_;
};

}  // namespace tutti::detail
