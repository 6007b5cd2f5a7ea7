// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tutti::miniapps {

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
