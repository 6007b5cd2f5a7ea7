// SPDX-License-Identifier: BSD-3-Clause
#include "scaling.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <thread>
#include <tutti/collectives/barrier.hpp>

#include "common/show/chart.hpp"

namespace sgd {

namespace {

/// Ranks that wait for those that measure leave them the cores.
void meet_backing_off(const tutti::Communicator& comm) {
  tutti::Request all = tutti::ibarrier(comm);
  while (!all.test()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

using Value = double (*)(const std::vector<ScalingPoint>&, std::size_t point, std::size_t method, Growth growth);

double step_of(const std::vector<ScalingPoint>& points, std::size_t point, std::size_t method, Growth) {
  return points[point].figures[method].step;
}

double exposed_of(const std::vector<ScalingPoint>& points, std::size_t point, std::size_t method, Growth) {
  return points[point].figures[method].exposed;
}

tutti::miniapps::chart::Panel panel_of(const std::vector<ScalingPoint>& points, Growth growth, const std::string& title,
                                       const std::string& y_label, Value value) {
  tutti::miniapps::chart::Panel panel{title, {}, y_label};
  for (std::size_t m = 0; m < points.front().figures.size(); ++m) {
    panel.series.push_back({points.front().figures[m].method.name, {}, {}});
    for (std::size_t p = 0; p < points.size(); ++p) {
      panel.series.back().x.push_back(points[p].ranks);
      panel.series.back().y.push_back(value(points, p, m, growth));
    }
  }
  return panel;
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

std::string scaling_chart(const std::vector<ScalingPoint>& points, Growth growth, const std::string& title) {
  namespace chart = tutti::miniapps::chart;
  const std::string kind = growth == Growth::weak ? "weak scaling" : "strong scaling";
  std::vector<chart::Panel> panels{
      panel_of(points, growth, kind + ": time per step", "milliseconds", step_of),
      panel_of(points, growth, kind + ": efficiency", "of one rank's", efficiency),
      panel_of(points, growth, kind + ": exposed communication", "milliseconds per step", exposed_of)};
  const double alone = points.front().figures.front().step;
  for (std::size_t panel = 0; panel < panels.size(); ++panel) {
    chart::Series ideal{"ideal", {}, {}, true};
    for (const ScalingPoint& point : points) {
      ideal.x.push_back(point.ranks);
      const double step = growth == Growth::weak ? alone : alone / point.ranks;
      ideal.y.push_back(panel == 0 ? step : panel == 1 ? 1 : 0);
    }
    panels[panel].series.push_back(ideal);
  }
  return chart::draw_panels(panels, {"ranks", chart::Scale::log, chart::Unit::count}, {kind}, {kind + ": " + title});
}

}  // namespace sgd
