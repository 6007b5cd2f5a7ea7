// SPDX-License-Identifier: BSD-3-Clause
#include "phases.hpp"

#include <algorithm>
#include <tutti/collectives/allreduce.hpp>

namespace tutti::miniapps {

Phases::Phases(std::vector<Phase> phases, std::size_t warmup) : phases_(std::move(phases)), warmup_(warmup) {
  phases_.push_back({"other", false});
  step_.assign(phases_.size(), 0.0);
  samples_.resize(phases_.size());
}

void Phases::begin_step() {
  std::fill(step_.begin(), step_.end(), 0.0);
  phase_range_.reset();
  step_range_.emplace("step");
  begin_ = last_ = Clock::now();
  current_ = phases_.size() - 1;
}

void Phases::enter(std::size_t phase) {
  const auto now = Clock::now();
  step_[current_] += std::chrono::duration<double>(now - last_).count();
  last_ = now;
  current_ = phase;
  phase_range_.reset();
  if (phase + 1 < phases_.size()) phase_range_.emplace(phases_[phase].name);
}

void Phases::end_step() {
  enter(phases_.size() - 1);
  step_range_.reset();
  if (seen_++ < warmup_) {
    return;
  }
  durations_.push_back(std::chrono::duration<double>(last_ - begin_).count());
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    samples_[i].push_back(static_cast<float>(step_[i]));
  }
}

double Phases::median(std::size_t phase) const {
  return miniapps::median(std::vector<double>(samples_[phase].begin(), samples_[phase].end()));
}

double Phases::median_step() const { return miniapps::median(durations_); }

double median(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<PhaseTime> phase_times(const Communicator& comm, const Phases& phases) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < phases.phases().size(); ++i) {
    sums.push_back(1e3 * phases.median(i));
  }
  std::vector<double> largest = sums;
  allreduce(comm, sums, sum);
  allreduce(comm, largest, max);
  std::vector<PhaseTime> times;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto& phase = phases.phases()[i];
    times.push_back({phase.name, phase.exposed, sums[i] / comm.size(), largest[i]});
  }
  return times;
}

}  // namespace tutti::miniapps
