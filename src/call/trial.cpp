// SPDX-License-Identifier: BSD-3-Clause
#include "call/trial.hpp"

#include <algorithm>

#include "call/plan.hpp"
#include "core/stopwatch.hpp"

namespace tutti::detail {

Trial::Trial(std::vector<std::shared_ptr<const Plan>> ways)
    : ways_(std::move(ways)), samples_(ways_.size()), sums_(ways_.size(), 0.0) {}

bool Trial::note(double seconds) {
  if (is_heat_over()) return false;
  if (measures()) {
    Samples& samples = samples_[current()];
    samples.seconds[samples.count++] = seconds;
  }
  ++calls_;
  return is_heat_over();
}

void Trial::write_times(std::span<double> times) {
  for (std::size_t i = 0; i < ways_.size(); ++i) times[i] = median_in_place(samples_[i].seconds);
}

void Trial::judge(std::span<const double> slowest) {
  if (heat_ == 0) {
    const double ratio = slowest.front() / first()->expected;
    surprises_ = ratio > surprise || ratio < 1 / surprise;
  }
  for (std::size_t i = 0; i < ways_.size(); ++i) sums_[i] += slowest[i];
  const double best = *std::min_element(sums_.begin(), sums_.end());
  const bool keeps_first = sums_.front() <= best * worthwhile;
  keep_promising();
  if (++heat_ == heats || ways_.size() == 1) {
    const auto fastest = std::min_element(sums_.begin(), sums_.end()) - sums_.begin();
    winner_ = keeps_first ? ways_.front() : ways_[static_cast<std::size_t>(fastest)];
  }
  for (Samples& samples : samples_) samples.count = 0;
  calls_ = settled_calls;
}

/// Ways that are far behind leave.
void Trial::keep_promising() {
  const double best = *std::min_element(sums_.begin(), sums_.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    if (sums_[i] > best * hopeless) continue;
    ways_[kept] = ways_[i];
    sums_[kept++] = sums_[i];
  }
  ways_.resize(kept);
  sums_.resize(kept);
}

}  // namespace tutti::detail
