// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

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

namespace {

/// A program that looks for messages, of which there are none.
void probe() {
  constexpr int nobodys_tag = 77;
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, nobodys_tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

}  // namespace

/// Start, computing in times + 1 parts with a test or probe between two, wait. `computed`: seconds of the parts.
double Experiment::overlapped(double compute, Between between, int times, double& computed) {
  Call& call = *calls_.front();
  team_.meet();
  computed = 0;
  const double start = now();
  call.start();
  for (int part = 0; part <= times; ++part) {
    if (part > 0 && between == Between::probes)
      probe();
    else if (part > 0)
      (void)call.test();
    computed += compute_for(compute / (times + 1));
  }
  call.wait();
  return now() - start;
}

Overlap Experiment::measure_overlap(double pure, double budget) {
  Overlap result;
  result.pure = pure;
  result.tests = settings_.overlap_tests;
  result.probes = settings_.overlap_probes;
  const int iterations = std::clamp(static_cast<int>(budget / 4 / std::max(pure, 1e-7)), 7, 200);
  const auto run = [&](Between between, int times, double& percent) {
    std::vector<double> totals(static_cast<std::size_t>(iterations));
    std::vector<double> parts(totals.size());
    for (std::size_t i = 0; i < totals.size(); ++i) totals[i] = overlapped(pure, between, times, parts[i]);
    team_.take_largest(totals);
    team_.take_largest(parts);
    const double total = statistics_of(totals).p50;
    result.compute = statistics_of(parts).p50;
    percent = overlap_percent(pure, result.compute, total);
    return total;
  };
  result.tested_total = run(Between::tests, result.tests, result.tested_percent);
  if (result.probes > 0) result.probed_total = run(Between::probes, result.probes, result.probed_percent);
  result.total = run(Between::tests, 0, result.percent);
  return result;
}

}  // namespace tutti::commbench
