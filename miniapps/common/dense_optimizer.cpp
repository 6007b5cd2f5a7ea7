// SPDX-License-Identifier: BSD-3-Clause
#include "dense_optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tutti/error.hpp>

namespace tutti::miniapps {

void sgd_update(std::span<float> parameters, std::span<const float> gradients, float rate) {
  float* __restrict p = parameters.data();
  const float* __restrict g = gradients.data();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    p[i] -= rate * g[i];
  }
}

void adagrad_update(std::span<float> parameters, std::span<const float> gradients, std::span<float> state, float rate,
                    float epsilon) {
  float* __restrict p = parameters.data();
  float* __restrict s = state.data();
  const float* __restrict g = gradients.data();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    s[i] += g[i] * g[i];
    p[i] -= rate * g[i] / (std::sqrt(s[i]) + epsilon);
  }
}

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
