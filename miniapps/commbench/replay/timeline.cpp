// SPDX-License-Identifier: BSD-3-Clause
#include "replay/timeline.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::commbench::replay {
namespace {

double end_of(const Step& step) { return step.begin + step.length.value_or(0); }

void sort_by_time(std::vector<Step>& steps) {
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.begin < b.begin; });
}

}  // namespace

void Timeline::add(Step::Kind kind, std::size_t call, double begin, std::optional<double> length) {
  recording_.steps.push_back({kind, call, begin, length});
}

void Timeline::run(RecordedCall&& call, double begin, std::optional<double> length) {
  recording_.calls.push_back(std::move(call));
  add(Step::Kind::run, recording_.calls.size() - 1, begin, length);
}

std::size_t Timeline::start(RecordedCall&& call, double begin) {
  recording_.calls.push_back(std::move(call));
  add(Step::Kind::start, recording_.calls.size() - 1, begin, std::nullopt);
  return recording_.calls.size() - 1;
}

void Timeline::wait(std::size_t call, double begin, std::optional<double> length) {
  add(Step::Kind::wait, call, begin, length);
}

/// Starts the calls of these steps one after the other, and then waits in the order of their ends.
void Timeline::separate(std::size_t first, std::size_t last) {
  std::vector<Step>& steps = recording_.steps;
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = first; i < last; ++i) {
    if (steps[i].kind != Step::Kind::run) continue;
    ends.emplace_back(end_of(steps[i]), steps[i].call);
    recording_.calls[steps[i].call].mode = Mode::nonblocking;
    steps[i].kind = Step::Kind::start;
    steps[i].length.reset();
  }
  std::sort(ends.begin(), ends.end());
  double free = steps[last - 1].begin;
  for (const auto& [end, call] : ends) {
    add(Step::Kind::wait, call, std::min(free, end), std::max(0.0, end - free));
    free = std::max(free, end);
  }
}

void Timeline::separate_overlapping() {
  const std::size_t steps = recording_.steps.size();
  std::size_t first = 0;
  double end = 0;
  std::size_t runs = 0;
  for (std::size_t i = 0; i <= steps; ++i) {
    const bool is_apart = i == steps || runs == 0 || recording_.steps[i].begin >= end;
    if (is_apart && runs > 1) separate(first, i);
    if (i == steps) break;
    const Step& step = recording_.steps[i];
    if (is_apart) {
      first = i;
      runs = 0;
    }
    if (step.kind != Step::Kind::run) continue;
    end = runs == 0 ? end_of(step) : std::max(end, end_of(step));
    ++runs;
  }
  sort_by_time(recording_.steps);
}

void Timeline::wait_for_all() {
  std::vector<bool> is_open(recording_.calls.size(), false);
  for (const Step& step : recording_.steps) {
    if (step.kind == Step::Kind::start) is_open[step.call] = true;
    if (step.kind == Step::Kind::wait) is_open[step.call] = false;
  }
  const double end = recording_.steps.empty() ? 0 : end_of(recording_.steps.back());
  for (std::size_t call = 0; call < is_open.size(); ++call)
    if (is_open[call]) add(Step::Kind::wait, call, end, std::nullopt);
}

void Timeline::finish(std::optional<double> first) {
  std::vector<Step>& steps = recording_.steps;
  sort_by_time(steps);
  separate_overlapping();
  wait_for_all();
  if (steps.empty()) return;
  const double own = steps.front().begin;
  const double begin = first.value_or(own);
  for (Step& step : steps) {
    recording_.length = std::max(recording_.length, end_of(step) - own);
    step.begin -= begin;
  }
}

}  // namespace tutti::commbench::replay
