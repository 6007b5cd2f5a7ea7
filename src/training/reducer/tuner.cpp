// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/tuner.hpp"

#include <algorithm>
#include <limits>

namespace tutti::detail::reducer {

Tuner Tuner::among_sizes(std::size_t total_bytes) {
  Progress start;
  for (const std::size_t mebibytes : {1U, 2U, 5U, 10U, 25U, 50U, 100U}) {
    start.candidates.push_back(mebibytes << 20U);
    // A larger one would make the same buckets.
    if (start.candidates.back() >= total_bytes) break;
  }
  start.best.assign(start.candidates.size(), std::numeric_limits<double>::infinity());
  Tuner tuner(std::move(start));
  if (tuner.state_.candidates.size() == 1) tuner.settle();
  return tuner;
}

Tuner Tuner::fixed(std::size_t bytes) {
  Progress settled;
  settled.chosen = bytes;
  return Tuner(std::move(settled));
}

bool Tuner::record(double seconds) {
  if (is_settled()) return false;
  const std::size_t before = bytes();
  if (state_.step >= warm_ups) state_.best[state_.current] = std::min(state_.best[state_.current], seconds);
  if (++state_.step < warm_ups + timed_steps) return false;
  state_.step = 0;
  if (++state_.current == state_.candidates.size()) settle();
  return bytes() != before;
}

void Tuner::settle() {
  const auto fastest = std::min_element(state_.best.begin(), state_.best.end());
  state_.chosen = state_.candidates[static_cast<std::size_t>(fastest - state_.best.begin())];
  state_.current = state_.candidates.size();
}

}  // namespace tutti::detail::reducer
