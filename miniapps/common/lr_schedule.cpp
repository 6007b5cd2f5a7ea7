// SPDX-License-Identifier: BSD-3-Clause
#include "lr_schedule.hpp"

#include <algorithm>
#include <string>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

double warm(const LrSchedule& s, std::uint64_t step) {
  return s.base * (1.0 - static_cast<double>(s.warmup_steps - step) / static_cast<double>(s.warmup_steps));
}

double decayed(const LrSchedule& s, std::uint64_t step) {
  const auto n = static_cast<double>(s.decay_steps);
  const double scale = (n - static_cast<double>(step - s.decay_start_step)) / n;
  return std::max(1e-7, s.base * scale * scale);
}

}  // namespace

void LrSchedule::validate() const {
  if (decay_steps > 0 && decay_start_step < warmup_steps) {
    throw Error(ErrorCode::invalid_argument, "the learning rate's decay starts at step " +
                                                 std::to_string(decay_start_step) + ", before the warm-up of " +
                                                 std::to_string(warmup_steps) + " steps ends");
  }
}

double LrSchedule::at(std::uint64_t step) const {
  if (step < warmup_steps) {
    return warm(*this, step);
  }
  if (decay_steps == 0) {
    return base;
  }
  if (step < decay_start_step) {
    return warmup_steps > 1 ? warm(*this, warmup_steps - 1) : base;
  }
  return decayed(*this, std::min(step, decay_start_step + decay_steps - 1));
}

}  // namespace tutti::miniapps
