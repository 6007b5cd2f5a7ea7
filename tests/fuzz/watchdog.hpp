// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tutti::fuzz {

/// Ends the process with a text that says where it stood, if nothing has been noted for so many seconds.
class Watchdog {
 public:
  Watchdog(int rank, double seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void note(std::string where);

 private:
  void watch();
  const int rank_;
  const double seconds_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string where_;
  bool has_news_ = true;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace tutti::fuzz
