// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "clock.hpp"
#include "experiment.hpp"
#include "statistics.hpp"

namespace tutti::commbench {

double compute_for(double seconds) {
  static std::array<float, 256> values{};
  const double start = now();
  double passed = 0;
  do {
    for (float& value : values) value = value * 0.999F + 0.001F;
    passed = now() - start;
  } while (passed < seconds);
  return passed;
}

/// Start, computing in tests + 1 parts with a test between two, wait. `computed`: seconds of the parts.
double Experiment::overlapped(double compute, int tests, double& computed) {
  Call& call = *calls_.front();
  team_.meet();
  computed = 0;
  const double start = now();
  call.start();
  for (int part = 0; part <= tests; ++part) {
    if (part > 0) (void)call.test();
    computed += compute_for(compute / (tests + 1));
  }
  call.wait();
  return now() - start;
}

Overlap Experiment::measure_overlap(double pure, double budget) {
  Overlap result;
  result.pure = pure;
  result.tests = settings_.overlap_tests;
  const int iterations = std::clamp(static_cast<int>(budget / 4 / std::max(pure, 1e-7)), 7, 200);
  const auto run = [&](int tests, double& percent) {
    std::vector<double> totals(static_cast<std::size_t>(iterations));
    std::vector<double> parts(totals.size());
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = overlapped(pure, tests, parts[i]);
    team_.take_largest(totals);
    team_.take_largest(parts);
    const double total = statistics_of(totals).p50;
    result.compute = statistics_of(parts).p50;
    percent = overlap_percent(pure, result.compute, total);
    return total;
  };
  result.tested_total = run(result.tests, result.tested_percent);
  result.total = run(0, result.percent);
  return result;
}

}  // namespace tutti::commbench
