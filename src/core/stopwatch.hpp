// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <span>
#include <utility>
#include <vector>

namespace tutti::detail {

/// Measures the time since it was made, in seconds.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

/// Measures for how long the calling thread has not run since it was made, because other work had its core. A thread
/// that sleeps or waits in the kernel does not run either.
class AbsenceWatch {
 public:
  [[nodiscard]] double seconds() const { return std::max(watch_.seconds() - (cpu_seconds() - begin_), 0.0); }

 private:
  static double cpu_seconds() {
    std::timespec time{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  double begin_ = cpu_seconds();
  Stopwatch watch_;
};

/// The median of at least one value. Reorders them.
[[nodiscard]] inline double median_in_place(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}
[[nodiscard]] inline double median(std::vector<double> values) { return median_in_place(values); }

/// The median of `times` calls of `measure`, each of which returns a time.
template <typename Measure>
[[nodiscard]] double median_of(int times, Measure&& measure) {
  std::vector<double> found;
  for (int i = 0; i < times; ++i) found.push_back(measure());
  return median(std::move(found));
}

/// The least of `times` calls of `measure`: of work that takes two ranks, most calls may meet one that does not run.
template <typename Measure>
[[nodiscard]] double least_of(int times, Measure&& measure) {
  double least = measure();
  for (int i = 1; i < times; ++i) least = std::min(least, measure());
  return least;
}

}  // namespace tutti::detail
