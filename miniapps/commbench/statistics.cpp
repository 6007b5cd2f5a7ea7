// SPDX-License-Identifier: BSD-3-Clause
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

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

double bus_factor(Operation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (operation) {
    case Operation::barrier:
      return 0;
    case Operation::bcast:
    case Operation::reduce:
    case Operation::scan:
    case Operation::exscan:
      return 1;
    case Operation::allreduce:
      return 2 * others;
    default:
      return others;
  }
}

double algorithm_bandwidth(std::size_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0;
}

}  // namespace tutti::commbench
