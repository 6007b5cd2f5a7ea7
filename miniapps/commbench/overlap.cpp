// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <array>

#include "device_timer.hpp"
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

/// Start, computing in times + 1 parts with a test or probe between two, wait.
Experiment::Spent Experiment::overlapped(double compute, Between between, int times) {
  MeasuredCall& call = *calls_.front();
  team_.meet();
  Spent spent;
  const double start = now();
  call.start();
  for (int part = 0; part <= times; ++part) {
    if (part > 0 && between == Between::probes)
      probe();
    else if (part > 0)
      (void)call.test();
    spent.computed += compute_for(compute / (times + 1));
  }
  const double wait = now();
  call.wait();
  const double end = now();
  spent.waited = end - wait;
  spent.total = end - start;
  return spent;
}

Experiment::Spent Experiment::overlapped_often(double compute, Between between, int times, int iterations) {
  std::vector<Spent> all;
  for (int i = 0; i < iterations; ++i) all.push_back(overlapped(compute, between, times));
  const auto median = [&](double Spent::*seconds) {
    std::vector<double> values;
    for (const Spent& spent : all) values.push_back(spent.*seconds);
    team_.take_largest(values);
    return statistics_of(values).p50;
  };
  return {median(&Spent::total), median(&Spent::computed), median(&Spent::waited)};
}

Overlap Experiment::measure_overlap(double pure, double budget) {
  Overlap result;
  result.pure = pure;
  result.tests = settings_.overlap_tests;
  result.probes = settings_.overlap_probes;
  const int iterations = std::clamp(static_cast<int>(budget / 4 / std::max(pure, 1e-7)), 7, 200);
  const auto run = [&](Between between, int times, double& percent) {
    const Spent spent = overlapped_often(pure, between, times, iterations);
    result.compute = spent.computed;
    percent = overlap_percent(pure, spent.computed, spent.total);
    return spent;
  };
  result.tested_total = run(Between::tests, result.tests, result.tested_percent).total;
  if (result.probes > 0) {
    const Spent spent = run(Between::probes, result.probes, result.probed_percent);
    result.probed_total = spent.total;
    result.probed_wait = spent.waited;
  }
  result.total = run(Between::tests, 0, result.percent).total;
  return result;
}

}  // namespace tutti::commbench
