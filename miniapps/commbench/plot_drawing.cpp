// SPDX-License-Identifier: BSD-3-Clause
#include "common/show/chart.hpp"
#include "plot.hpp"

namespace tutti::commbench {
namespace {

namespace chart = miniapps::chart;

const char* unit_of(Metric metric) {
  if (metric == Metric::latency) return "latency, µs (median)";
  return metric == Metric::bus_bandwidth ? "bus bandwidth, GB/s" : "algorithm bandwidth, GB/s";
}

}  // namespace

std::string draw_panels(const std::vector<Panel>& panels, Metric metric, const PlotHeading& heading) {
  std::vector<chart::Panel> drawn;
  for (const Panel& panel : panels) {
    drawn.push_back({panel.title, {}, {}});
    for (const Curve& curve : panel.curves) drawn.back().series.push_back({curve.name, curve.x, curve.y});
  }
  return chart::draw_panels(drawn,
                            {"size of the vector, or of all blocks of a rank", chart::Scale::log, chart::Unit::bytes},
                            {unit_of(metric), chart::Scale::log, chart::Unit::number}, {heading.title, heading.notes});
}

}  // namespace tutti::commbench
