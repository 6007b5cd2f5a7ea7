// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "chart.hpp"
#include "chart_axis.hpp"

namespace tutti::miniapps::chart {

namespace {

constexpr double panel_width = 470;
constexpr double panel_height = 330;
constexpr double left = 66;
constexpr double right = 26;
constexpr double top = 30;
constexpr double bottom = 48;
constexpr std::size_t most_columns = 3;

using Names = std::vector<std::string>;

Names names_in(const std::vector<Panel>& panels) {
  Names names;
  for (const Panel& panel : panels)
    for (const Series& series : panel.series)
      if (!series.is_reference && std::find(names.begin(), names.end(), series.name) == names.end())
        names.push_back(series.name);
  return names;
}

const svg::TextStyle title_style{.size = 15, .bold = true};
const svg::TextStyle notes_style{.size = 11, .fill = "#555555"};

/// Empty if there is none.
std::string name_of_reference(const std::vector<Panel>& panels) {
  for (const Panel& panel : panels)
    for (const Series& series : panel.series)
      if (series.is_reference) return series.name;
  return {};
}

AxisMap map_of(const Panel& panel, std::vector<double> Series::*values, const Axis& axis, double from, double to) {
  double low = 1e300;
  double high = -1e300;
  for (const Series& series : panel.series) {
    for (const double value : series.*values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) throw Error(ErrorCode::invalid_argument, "chart: '" + panel.title + "' has no points");
  return make_map(axis, low, high, from, to);
}

void draw_x_axis(svg::Document& doc, const Axis& axis, const AxisMap& x, double floor) {
  for (const Tick& tick : ticks_of(axis, x)) {
    doc.line({x.at(tick.value), floor}, {x.at(tick.value), top}, {.stroke = tick.is_main ? "#e4e4e4" : "#f0f0f0"});
    if (!tick.text.empty())
      doc.text({x.at(tick.value), floor + 16}, tick.text, {.size = 10, .anchor = svg::Anchor::middle});
  }
  doc.text({(x.from + x.to) / 2, floor + 36}, axis.label, {.size = 12, .anchor = svg::Anchor::middle});
}

void draw_y_axis(svg::Document& doc, const Axis& axis, const std::string& label, const AxisMap& y, double end) {
  for (const Tick& tick : ticks_of(axis, y)) {
    doc.line({left, y.at(tick.value)}, {end, y.at(tick.value)}, {.stroke = tick.is_main ? "#cccccc" : "#f0f0f0"});
    if (!tick.text.empty())
      doc.text({left - 6, y.at(tick.value) + 4}, tick.text, {.size = 10, .anchor = svg::Anchor::end});
  }
  doc.text({left - 48, (y.from + y.to) / 2}, label, {.size = 12, .anchor = svg::Anchor::middle, .rotate = -90});
}

void draw_series(svg::Document& doc, const Series& series, const AxisMap& x, const AxisMap& y, Unit unit,
                 const svg::Style& style) {
  std::vector<svg::Point> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) points.push_back({x.at(series.x[i]), y.at(series.y[i])});
  if (series.is_reference) {
    doc.polyline(points, reference_style());
    return;
  }
  if (points.size() > 1) doc.polyline(points, style);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string tooltip = fmt::format("{}: {}, {:g}", series.name, value_text(unit, series.x[i]), series.y[i]);
    doc.circle(points[i], points.size() > 1 ? 2.8 : 5, {.fill = style.stroke, .tooltip = tooltip});
  }
}

void draw_panel(svg::Document& doc, const Panel& panel, const Names& names, const Axis& x_axis, const Axis& y_axis) {
  const double floor = panel_height - bottom;
  const double end = panel_width - right;
  const AxisMap x = map_of(panel, &Series::x, x_axis, left, end);
  const AxisMap y = map_of(panel, &Series::y, y_axis, floor, top);
  draw_x_axis(doc, x_axis, x, floor);
  draw_y_axis(doc, y_axis, panel.y_label.empty() ? y_axis.label : panel.y_label, y, end);
  doc.rect({left, top}, end - left, floor - top, {.stroke = "#888888"});
  for (const Series& series : panel.series) draw_series(doc, series, x, y, x_axis.unit, style_of(names, series.name));
  doc.text({(left + end) / 2, top - 10}, panel.title, {.size = 13, .anchor = svg::Anchor::middle, .bold = true});
}

}  // namespace

std::string draw_panels(const std::vector<Panel>& panels, const Axis& x, const Axis& y, const Heading& heading) {
  if (panels.empty()) throw Error(ErrorCode::invalid_argument, "chart: there are no panels to draw");
  const Names names = names_in(panels);
  const std::size_t columns = std::min(most_columns, panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double width =
      std::max({panel_width * static_cast<double>(columns), left + right + svg::text_width(heading.title, title_style),
                left + right + svg::text_width(heading.notes, notes_style)});
  const double head = heading.notes.empty() ? 26 : 46;
  const auto reference_name = name_of_reference(panels);
  const double below_legend = draw_legend(nullptr, names, left, width - right, false, reference_name);
  const double legend = head + below_legend;
  svg::Document doc(width, legend + panel_height * static_cast<double>(rows), heading.title);
  doc.text({left, 24}, heading.title, title_style);
  if (!heading.notes.empty()) doc.text({left, 44}, heading.notes, notes_style);
  doc.begin_group("legend", {0, head});
  draw_legend(&doc, names, left, width - right, false, reference_name);
  doc.end_group();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    doc.begin_group("panel", {panel_width * static_cast<double>(i % columns),
                              legend + panel_height * static_cast<double>(i / columns)});
    draw_panel(doc, panels[i], names, x, y);
    doc.end_group();
  }
  return doc.str();
}

}  // namespace tutti::miniapps::chart
