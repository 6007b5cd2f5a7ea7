// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "experiment.hpp"
#include "statistics.hpp"

namespace tutti::commbench {

double Experiment::compute_alone() {
  team_.meet();
  const double start = now();
  for (int part = 0; part <= settings_.overlap_tests; ++part)
    equipment_.computation->run(part, settings_.overlap_tests + 1);
  return now() - start;
}

/// By measured steps towards the wanted time, the same on all ranks: each is by the slowest.
std::size_t Experiment::fitting_size(double seconds) {
  constexpr int most_steps = 8;
  Computation& computation = *equipment_.computation;
  std::size_t size = 1;
  for (int step = 0; step < most_steps; ++step) {
    computation.resize(size);
    double taken = compute_alone();
    for (int i = 0; i < 2; ++i) taken = std::min(taken, compute_alone());
    const std::size_t next =
        next_size(size, team_.largest(taken), seconds, computation.power(), most_beside_size(settings_.beside));
    const bool is_near = next == size || (next < size + size / 16 && size < next + next / 16);
    size = next;
    if (is_near) break;
  }
  return size;
}

Together Experiment::together_once() {
  MeasuredCall& call = *calls_.front();
  const int parts = settings_.overlap_tests + 1;
  Together spent;
  team_.meet();
  const double start = now();
  call.start();
  bool is_done = false;
  for (int part = 0; part < parts; ++part) {
    const double begin = now();
    equipment_.computation->run(part, parts);
    spent.computed_beside += now() - begin;
    if (is_done || part + 1 == parts) continue;
    is_done = call.test();
    if (is_done) spent.call_beside = now() - start;
  }
  call.wait();
  spent.both = now() - start;
  if (!is_done) spent.call_beside = spent.both;
  return spent;
}

/// In turn the call alone, the computation alone, and both at once.
void Experiment::measure_together(double pure, double budget, Measurement& result) {
  const std::size_t size = settings_.beside_size > 0 ? settings_.beside_size : fitting_size(pure);
  equipment_.computation->resize(size);
  const int iterations = std::clamp(static_cast<int>(budget / 4 / std::max(pure, 1e-7)), 7, 200);
  std::vector<Together> all;
  for (int i = 0; i < iterations; ++i) {
    const double call = timed_call(0);
    const double computation = compute_alone();
    if (i + 1 == iterations && settings_.check != Check::off) fill(0, ++iteration_);
    all.push_back(together_once());
    all.back().call = call;
    all.back().computation = computation;
  }
  verify(0, iteration_);
  add_checks(result);
  const auto median = [&](double Together::*seconds) {
    std::vector<double> values;
    for (const Together& one : all) values.push_back(one.*seconds);
    team_.take_largest(values);
    return statistics_of(values).p50;
  };
  Together& medians = result.together.emplace();
  medians.size = size;
  for (const auto figure :
       {&Together::call, &Together::computation, &Together::both, &Together::call_beside, &Together::computed_beside})
    medians.*figure = median(figure);
  medians.percent = overlap_percent(medians.call, medians.computation, medians.both);
}

}  // namespace tutti::commbench
