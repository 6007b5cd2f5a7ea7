// SPDX-License-Identifier: BSD-3-Clause
#include "call/trial.hpp"

#include <algorithm>

#include "core/stopwatch.hpp"

namespace tutti::detail {

Trial::Trial(std::vector<std::shared_ptr<const Plan>> ways)
    : ways_(std::move(ways)), samples_(ways_.size()), sums_(ways_.size(), 0.0) {}

bool Trial::note(double seconds) {
  if (measures()) samples_[current()].push_back(seconds);
  ++calls_;
  return begun() && calls_ == settled_calls + turn * ways_.size();
}

std::vector<double> Trial::times() const {
  std::vector<double> times;
  for (const std::vector<double>& samples : samples_) times.push_back(median(samples));
  return times;
}

void Trial::judge(std::span<const double> slowest) {
  if (heat_ == 0) {
    const double ratio = slowest.front() / first()->expected;
    surprises_ = ratio > surprise || ratio < 1 / surprise;
  }
  for (std::size_t i = 0; i < ways_.size(); ++i) sums_[i] += slowest[i];
  const double best = *std::min_element(sums_.begin(), sums_.end());
  const bool keeps_first = sums_.front() <= best * worthwhile;
  std::vector<std::shared_ptr<const Plan>> ways;
  std::vector<double> sums;
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    if (sums_[i] > best * hopeless) continue;
    ways.push_back(ways_[i]);
    sums.push_back(sums_[i]);
  }
  if (++heat_ == heats || ways.size() == 1) {
    const auto fastest = std::min_element(sums.begin(), sums.end()) - sums.begin();
    winner_ = keeps_first ? ways.front() : ways[static_cast<std::size_t>(fastest)];
  }
  ways_ = std::move(ways);
  sums_ = std::move(sums);
  samples_.assign(ways_.size(), {});
  calls_ = settled_calls;
}

}  // namespace tutti::detail
