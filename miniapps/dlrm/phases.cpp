// SPDX-License-Identifier: BSD-3-Clause
#include "phases.hpp"

#include <algorithm>

namespace dlrm {

void PhaseTimer::end_step() {
  enter(Phase::other);
  ++steps_;
  if (steps_ <= warmup_) {
    return;
  }
  durations_.push_back(std::chrono::duration<double>(last_ - begin_).count());
  for (std::size_t i = 0; i < phase_count; ++i) {
    sum_[i] += step_[i];
  }
}

PhaseTimer::Seconds PhaseTimer::mean() const {
  Seconds result{};
  if (!durations_.empty()) {
    for (std::size_t i = 0; i < phase_count; ++i) {
      result[i] = sum_[i] / static_cast<double>(durations_.size());
    }
  }
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace dlrm
