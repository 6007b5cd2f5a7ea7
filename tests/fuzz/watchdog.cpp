// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/watchdog.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tutti::fuzz {

Watchdog::Watchdog(int rank, double seconds) : rank_(rank), seconds_(seconds), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::note(std::string where) {
  const std::lock_guard lock(mutex_);
  where_ = std::move(where);
  has_news_ = true;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    has_news_ = false;
    changed_.wait_for(lock, std::chrono::duration<double>(seconds_), [this] { return ends_; });
    if (ends_ || has_news_) continue;
    std::fprintf(stderr, "[rank %d] HANG: nothing for %g s in %s\n", rank_, seconds_, where_.c_str());
    std::fflush(stderr);
    // The other ranks say where they stand, too, before the launcher ends them.
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_ / 4));
    std::_Exit(3);
  }
}

}  // namespace tutti::fuzz
