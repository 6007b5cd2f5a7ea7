// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tutti::commbench {

Statistics statistics_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto percentile = [&](double p) {
    const double position = std::ceil(p / 100 * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(1.0, position)) - 1];
  };
  return {values.front(), percentile(50), percentile(95), percentile(99), values.back()};
}

double overlap_percent(double pure, double compute, double total) {
  if (!(pure > 0)) return 0;
  return std::clamp(100 * (1 - (total - compute) / pure), 0.0, 100.0);
}

}  // namespace tutti::commbench
