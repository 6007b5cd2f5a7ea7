// SPDX-License-Identifier: BSD-3-Clause
#include "ahead_thread.hpp"

#include <system_error>
#include <utility>

namespace tutti::miniapps {

AheadThread::AheadThread(std::uint64_t count, std::uint64_t depth, std::function<void(std::uint64_t)> make)
    : count_(count), depth_(depth), make_(std::move(make)) {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): take() does without
  }
}

AheadThread::~AheadThread() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AheadThread::work() {
  std::unique_lock lock(mutex_);
  while (made_ < count_) {
    changed_.wait(lock, [this] { return stop_ || made_ < taken_ + depth_; });
    if (stop_) {
      return;
    }
    lock.unlock();
    make_(made_);
    lock.lock();
    ++made_;
    changed_.notify_all();
  }
}

void AheadThread::take() {
  if (!thread_.joinable()) {
    make_(taken_++);
    return;
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return made_ > taken_; });
    ++taken_;
  }
  changed_.notify_all();
}

}  // namespace tutti::miniapps
