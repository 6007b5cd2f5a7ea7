// SPDX-License-Identifier: BSD-3-Clause
#include "optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sgd {

double Schedule::at(std::uint64_t step) const {
  if (step < warmup_steps) {
    return base * static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  const std::uint64_t done = step - std::max<std::uint64_t>(warmup_steps, 1);
  if (kind == "step") {
    return base * std::pow(factor, static_cast<double>(done / every));
  }
  if (kind == "cosine") {
    const std::uint64_t first = std::max<std::uint64_t>(warmup_steps, 1);
    const double share =
        last_step > first ? std::min(1.0, static_cast<double>(done) / static_cast<double>(last_step - first)) : 1.0;
    return base * (factor + (1 - factor) * (1 + std::cos(std::numbers::pi * share)) / 2);
  }
  return base;
}

}  // namespace sgd
