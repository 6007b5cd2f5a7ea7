// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "training/reducer/pipeline.hpp"

namespace tutti::detail::reducer {

/// Who drives the pipeline: the caller, from the calls that it makes, or a thread of the reducer until the caller has
/// nothing else to do.
class Driver {
 public:
  Driver(Pipeline& pipeline, bool threaded, bool oversubscribed);
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// A few calls of the pipeline that do not block.
  template <typename Call>
  void with(Call&& call) {
    {
      const std::lock_guard lock(mutex_);
      guard([&] { call(pipeline_); });
    }
    if (threaded_) signal();
  }
  void allow(std::size_t buckets);
  /// Without a thread: goes on for about so long as there is anything to do.
  void help(std::chrono::nanoseconds budget);
  /// Drives in the caller's thread until the condition holds. Throws what failed.
  void drive_until(const std::function<bool(const Pipeline&)>& condition);
  /// Throws what failed, once and for ever.
  void check() const;

 private:
  template <typename Call>
  void guard(Call&& call) noexcept;
  void run();
  void signal();

  Pipeline& pipeline_;
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
