// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace tutti::miniapps {

/// Makes items 0, 1, 2, ... in a thread of its own, while the owner uses those before. Where the process can have no
/// more threads, take() makes the item itself. Used by one thread.
class AheadThread {
 public:
  /// `make` makes the item of a number, does not throw and calls neither MPI nor Tutti; `count` items in all. `depth`,
  /// at least 1: so many items are made that were not taken yet.
  AheadThread(std::uint64_t count, std::uint64_t depth, std::function<void(std::uint64_t)> make);
  /// Waits for the item in progress; makes no other.
  ~AheadThread();
  AheadThread(const AheadThread&) = delete;
  AheadThread& operator=(const AheadThread&) = delete;

  /// Waits for the next item. Not to be called more than `count` times.
  void take();

 private:
  void work();

  std::uint64_t count_;
  std::uint64_t depth_;
  std::function<void(std::uint64_t)> make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t made_ = 0;
  std::uint64_t taken_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tutti::miniapps
