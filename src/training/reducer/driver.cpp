// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/driver.hpp"

#include "collectives/services.hpp"

namespace tutti::detail::reducer {

Driver::Driver(LaunchQueue& queue, bool threaded, bool oversubscribed)
    : queue_(queue), threaded_(threaded), oversubscribed_(oversubscribed) {
  if (threaded_) thread_ = std::thread([this] { run(); });
}

Driver::~Driver() {
  if (!thread_.joinable()) return;
  stop_.store(true);
  signal();
  thread_.join();
}

void Driver::signal() {
  signals_.fetch_add(1, std::memory_order_release);
  signals_.notify_one();
}

void Driver::allow(std::size_t buckets) {
  queue_.allow(buckets);
  if (threaded_) signal();
}

void Driver::help(std::chrono::nanoseconds budget) {
  if (threaded_ || !queue_.has_work()) return;
  const auto end = std::chrono::steady_clock::now() + budget;
  bool works = true;
  while (works) {
    works = false;
    guard([&] { works = queue_.advance(); });
    works = works && queue_.has_work() && std::chrono::steady_clock::now() < end;
  }
}

void Driver::drive_until(const std::function<bool(const LaunchQueue&)>& condition) {
  caller_drives_.store(true);
  {
    const std::lock_guard lock(mutex_);
    const flight::Held held;
    Backoff backoff(oversubscribed_);
    while (!failed_.load() && !condition(queue_)) {
      bool works = false;
      guard([&] { works = queue_.advance(); });
      if (works)
        backoff = Backoff(oversubscribed_);
      else if (!backoff.pause())
        Backoff::sleep();
    }
  }
  caller_drives_.store(false);
  check();
}

void Driver::check() const {
  if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
}

void Driver::run() {
  Backoff backoff(true);
  while (!stop_.load()) {
    const std::uint32_t seen = signals_.load(std::memory_order_acquire);
    bool sleeps = true;
    bool works = false;
    if (!caller_drives_.load()) {
      const std::lock_guard lock(mutex_);
      sleeps = failed_.load() || !queue_.has_work();
      if (!sleeps) guard([&] { works = queue_.advance(); });
    }
    if (works) backoff = Backoff(true);
    if (sleeps)
      signals_.wait(seen);
    else if (!backoff.pause())  // also after work: the caller's thread may want the core
      Backoff::sleep();
  }
}

}  // namespace tutti::detail::reducer
