// SPDX-License-Identifier: BSD-3-Clause
#include "scaling.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <thread>
#include <tutti/collectives/barrier.hpp>

namespace sgd {

namespace {

/// Ranks that wait for those that measure leave them the cores.
void meet_backing_off(const tutti::Communicator& comm) {
  tutti::Request all = tutti::ibarrier(comm);
  while (!all.test()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

std::vector<int> scaling_ranks(int most) {
  std::vector<int> ranks;
  for (int n = 1; n < most; n *= 2) ranks.push_back(n);
  ranks.push_back(most);
  return ranks;
}

double efficiency(const std::vector<ScalingPoint>& points, std::size_t point, std::size_t method, Growth growth) {
  const double one = points.front().figures[method].step;
  const double here = points[point].figures[method].step;
  return here > 0 ? one / here / (growth == Growth::strong ? points[point].ranks : 1) : 0;
}

std::vector<ScalingPoint> measure_scaling(const tutti::Communicator& comm, Subject& subject,
                                          const std::vector<Method>& methods, Growth growth) {
  std::vector<ScalingPoint> points;
  for (const int ranks : scaling_ranks(comm.size())) {
    points.push_back({ranks, {}});
    const tutti::Communicator part = comm.split(comm.rank() < ranks ? 0 : MPI_UNDEFINED);
    if (part.valid()) points.back().figures = subject.measure(part, methods, growth);
    meet_backing_off(comm);
  }
  return points;
}

std::string scaling_text(const std::vector<ScalingPoint>& points, Growth growth) {
  std::string text =
      fmt::format("{} scaling: {}\n{:>5}  {:<18}{:>10}{:>13}{:>13}\n", growth == Growth::weak ? "weak" : "strong",
                  growth == Growth::weak ? "every rank has as much to do, efficiency T(1) / T(n)"
                                         : "all ranks share the work, efficiency T(1) / (n T(n))",
                  "ranks", "mode", "step ms", "efficiency", "exposed ms");
  for (std::size_t p = 0; p < points.size(); ++p) {
    for (std::size_t m = 0; m < points[p].figures.size(); ++m) {
      const Figures& f = points[p].figures[m];
      text += fmt::format("{:>5}  {:<18}{:>10.2f}{:>11.1f} %{:>13.2f}\n", points[p].ranks, f.method.name, f.step,
                          100 * efficiency(points, p, m, growth), f.exposed);
    }
  }
  return text;
}

}  // namespace sgd
