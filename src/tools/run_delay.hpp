// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail::tuning {

/// The time that this thread was ready to run but did not, because its core had other work, as Linux counts it
/// (/proc/thread-self/schedstat). Used by the thread that made it.
class RunDelay {
 public:
  RunDelay();
  ~RunDelay();
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  /// Seconds since the thread began; 0 where the system does not count them.
  [[nodiscard]] double seconds() const;

 private:
  int file_;
};

}  // namespace tutti::detail::tuning
