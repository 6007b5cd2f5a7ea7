// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

namespace tutti::miniapps {

/// p -= rate * g, as torch.optim.SGD. Equal lengths; local.
void sgd_update(std::span<float> parameters, std::span<const float> gradients, float rate);

/// state += g * g; p -= rate * g / (sqrt(state) + epsilon), as torch.optim.Adagrad with its defaults (state starts at
/// zero, the caller keeps it). Equal lengths; local.
void adagrad_update(std::span<float> parameters, std::span<const float> gradients, std::span<float> state, float rate,
                    float epsilon = 1e-10F);

/// The reference's learning-rate policy: linear warm-up, a constant part, quadratic decay, a constant rest.
struct LrSchedule {
  double base = 0.01;
  std::uint64_t warmup_steps = 0;
  std::uint64_t decay_start_step = 0;
  std::uint64_t decay_steps = 0;  ///< 0: no decay

  /// Throws tutti::Error (invalid_argument) where decay starts before warm-up ends.
  void validate() const;
  /// The rate of step `step`, counted from 1. A pure function: after a warm-up of w steps that a decay follows, the
  /// rate stays at base * (1 - 1/w), as in the reference.
  [[nodiscard]] double at(std::uint64_t step) const;
};

}  // namespace tutti::miniapps
