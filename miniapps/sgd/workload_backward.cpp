// SPDX-License-Identifier: BSD-3-Clause
#include "workload_backward.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <tutti/collectives/bcast.hpp>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace sgd {

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

class SleepingWork : public TimedWork {
 public:
  explicit SleepingWork(double interval_us)
      : interval_(std::chrono::duration_cast<Clock::duration>(Microseconds(interval_us))) {
#if defined(__linux__)
    ::prctl(PR_SET_TIMERSLACK, 1000UL);  // else the kernel lengthens every nap by up to 50 microseconds
#endif
  }

  void begin(double milliseconds) override {
    begin_ = Clock::now();
    length_us_ = 1e3 * milliseconds;
  }

  void advance_to(double share, const std::function<void()>& progress) override {
    const auto deadline = begin_ + std::chrono::duration_cast<Clock::duration>(Microseconds(share * length_us_));
    if (!progress) {
      std::this_thread::sleep_until(deadline);
      return;
    }
    for (auto now = Clock::now(); now < deadline; now = Clock::now()) {
      std::this_thread::sleep_until(std::min(deadline, now + interval_));
      progress();
    }
  }

 private:
  Clock::duration interval_;
  Clock::time_point begin_{};
  double length_us_ = 0;
};

class ComputingWork : public TimedWork {
 public:
  ComputingWork(const tutti::Communicator& comm, double interval_us) {
    double rate = comm.rank() == 0 ? measured_rate() : 0;
    tutti::bcast(comm, tutti::Buffer(&rate, 1), 0);
    units_per_ms_ = rate;
    slice_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rate * interval_us * 1e-3));
  }

  void begin(double milliseconds) override {
    total_ = milliseconds * units_per_ms_;
    done_ = 0;
  }

  void advance_to(double share, const std::function<void()>& progress) override {
    const auto target = static_cast<std::uint64_t>(std::llround(share * total_));
    while (done_ < target) {
      const std::uint64_t count = progress ? std::min(slice_, target - done_) : target - done_;
      compute(count);
      done_ += count;
      if (progress) progress();
    }
  }

 private:
  /// A unit is some microseconds of multiplications and additions that no compiler leaves out.
  void compute(std::uint64_t units) {
    for (std::uint64_t unit = 0; unit < units; ++unit) {
      for (int pass = 0; pass < 32; ++pass) {
        for (float& value : values_) {
          value = value * 0.999F + 0.001F;
        }
      }
      kept_ = values_[unit % values_.size()];
    }
  }

  /// Units in a millisecond; the fastest of some runs, for whatever else runs here only slows it down.
  double measured_rate() {
    constexpr std::uint64_t units = 500;
    double shortest = std::numeric_limits<double>::max();
    for (int run = 0; run < 15; ++run) {
      const auto begin = Clock::now();
      compute(units);
      shortest = std::min(shortest, Microseconds(Clock::now() - begin).count());
    }
    return static_cast<double>(units) / shortest * 1e3;
  }

  std::array<float, 1024> values_{};
  volatile float kept_ = 0;
  double units_per_ms_ = 0;
  std::uint64_t slice_ = 1;
  double total_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

std::unique_ptr<TimedWork> make_timed_work(const tutti::Communicator& comm, const LoadOptions& options) {
  if (options.load == Load::compute) return std::make_unique<ComputingWork>(comm, options.interval_us);
  return std::make_unique<SleepingWork>(options.interval_us);
}

}  // namespace sgd
