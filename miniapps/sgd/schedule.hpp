// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace sgd {

/// How the learning rate changes. A linear warm-up from base / warmup_steps, then: constant; base times factor for
/// every `every` steps; or half a cosine from base to base * factor at the last step (Loshchilov and Hutter 2017).
struct Schedule {
  std::string kind = "constant";  ///< constant, step, cosine
  double base = 0.1;
  std::uint64_t warmup_steps = 0;
  std::uint64_t every = 1000;
  double factor = 0.1;
  std::uint64_t last_step = 0;

  /// The rate of step `step`, counted from 1. A pure function.
  [[nodiscard]] double at(std::uint64_t step) const;
};

}  // namespace sgd
