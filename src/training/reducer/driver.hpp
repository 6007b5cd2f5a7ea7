// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "training/reducer/launch_queue.hpp"

namespace tutti::detail::reducer {

/// Drives the launch queue: in the caller's thread, from the calls that it makes, or in a thread of the reducer until
/// the caller waits and drives it itself.
class Driver {
 public:
  Driver(LaunchQueue& queue, bool threaded, bool oversubscribed);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// Makes a few calls of the queue that do not block.
  template <typename Call>
  void with(Call&& call) {
    {
      const std::lock_guard lock(mutex_);
      guard([&] { call(queue_); });
    }
    if (threaded_) signal();
  }
  void allow(std::size_t buckets);
  /// Without a thread: drives the queue while it has work, for about `budget`.
  void help(std::chrono::nanoseconds budget);
  /// Drives the queue in the caller's thread until the condition holds. Throws what failed.
  void drive_until(const std::function<bool(const LaunchQueue&)>& condition);
  /// Throws what failed, now and in every later call.
  void check() const;

 private:
  template <typename Call>
  void guard(Call&& call) noexcept;
  void run();
  void signal();

  LaunchQueue& queue_;
  bool threaded_;
  bool oversubscribed_;
  std::mutex mutex_;
  std::exception_ptr failure_{};
  std::atomic<bool> failed_{false};
  std::atomic<bool> caller_drives_{false};
  std::atomic<bool> stop_{false};
  std::atomic<std::uint32_t> signals_{0};
  std::thread thread_;
};

template <typename Call>
void Driver::guard(Call&& call) noexcept {
  if (failed_.load(std::memory_order_relaxed)) return;
  try {
    call();
  } catch (...) {
    failure_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
}

}  // namespace tutti::detail::reducer
