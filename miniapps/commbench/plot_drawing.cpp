// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plot.hpp"
#include "tools/svg.hpp"

namespace tutti::commbench {
namespace {

constexpr double panel_width = 470;
constexpr double panel_height = 330;
constexpr double left = 66;
constexpr double right = 26;
constexpr double top = 30;
constexpr double bottom = 48;
constexpr double legend_row = 20;
constexpr std::size_t most_columns = 3;

using Names = std::vector<std::string>;

/// A logarithmic axis from whole powers of its base to whole powers.
struct Axis {
  double low;
  double high;
  double from;
  double to;
  [[nodiscard]] double at(double value) const {
    return from + (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) * (to - from);
  }
};

Axis make_axis(double low, double high, double base, double from, double to) {
  const double first = std::floor(std::log(low) / std::log(base) + 1e-9);
  const double last = std::max(first + 1, std::ceil(std::log(high) / std::log(base) - 1e-9));
  return {std::pow(base, first), std::pow(base, last), from, to};
}

std::string bytes_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return fmt::format("{:g} {}", bytes, units[unit]);
}

const char* unit_of(Metric metric) {
  if (metric == Metric::latency) return "latency, µs (median)";
  return metric == Metric::bus_bandwidth ? "bus bandwidth, GB/s" : "algorithm bandwidth, GB/s";
}

Names names_in(const std::vector<Panel>& panels) {
  Names names;
  for (const Panel& panel : panels)
    for (const Curve& curve : panel.curves)
      if (std::find(names.begin(), names.end(), curve.name) == names.end()) names.push_back(curve.name);
  return names;
}

/// Colours repeat after eight names, with another dash.
svg::Style style_of(const Names& names, const std::string& name) {
  static constexpr const char* dashes[] = {"", "6 3", "2 3", "8 3 2 3"};
  const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  svg::Style style;
  style.stroke = std::string(svg::palette[index % svg::palette.size()]);
  style.width = 1.8;
  style.dash = dashes[index / svg::palette.size() % 4];
  return style;
}

struct Range {
  double low = 1e300;
  double high = 0;
  void add(const std::vector<double>& values) {
    for (const double v : values) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  }
};

void draw_x_axis(svg::Document& doc, const Axis& x, double low, double high) {
  const double powers = std::log2(x.high / x.low);
  const int step = powers > 16 ? 4 : 2;
  for (double bytes = x.low; bytes <= x.high * 1.001; bytes *= std::exp2(step)) {
    doc.line({x.at(bytes), low}, {x.at(bytes), high}, {.stroke = "#e4e4e4"});
    doc.text({x.at(bytes), low + 16}, bytes_text(bytes), {.size = 10, .anchor = svg::Anchor::middle});
  }
  doc.text({(x.from + x.to) / 2, low + 36}, "size", {.size = 12, .anchor = svg::Anchor::middle});
}

void draw_y_axis(svg::Document& doc, const Axis& y, double low, double high, Metric metric) {
  const bool is_short = y.high / y.low < 1001;
  for (double decade = y.low; decade <= y.high * 1.001; decade *= 10) {
    for (int digit = 1; digit < 10; ++digit) {
      const double value = decade * digit;
      if (value > y.high * 1.001) break;
      const bool is_labelled = digit == 1 || (is_short && (digit == 2 || digit == 5));
      doc.line({low, y.at(value)}, {high, y.at(value)}, {.stroke = digit == 1 ? "#cccccc" : "#f0f0f0"});
      if (is_labelled)
        doc.text({low - 6, y.at(value) + 4}, fmt::format("{:g}", value), {.size = 10, .anchor = svg::Anchor::end});
    }
  }
  doc.text({low - 48, (y.from + y.to) / 2}, unit_of(metric),
           {.size = 12, .anchor = svg::Anchor::middle, .rotate = -90});
}

void draw_curve(svg::Document& doc, const Curve& curve, const Axis& x, const Axis& y, const svg::Style& style) {
  std::vector<svg::Point> points;
  for (std::size_t i = 0; i < curve.x.size(); ++i) points.push_back({x.at(curve.x[i]), y.at(curve.y[i])});
  if (points.size() > 1) doc.polyline(points, style);
  for (std::size_t i = 0; i < points.size(); ++i)
    doc.circle(
        points[i], 2.8,
        {.fill = style.stroke, .tooltip = fmt::format("{}: {}, {:g}", curve.name, bytes_text(curve.x[i]), curve.y[i])});
}

void draw_panel(svg::Document& doc, const Panel& panel, const Names& names, Metric metric) {
  Range sizes;
  Range values;
  for (const Curve& curve : panel.curves) {
    sizes.add(curve.x);
    values.add(curve.y);
  }
  const double floor = panel_height - bottom;
  const double end = panel_width - right;
  const Axis x = make_axis(sizes.low, sizes.high, 4, left, end);
  const Axis y = make_axis(values.low, values.high, 10, floor, top);
  draw_x_axis(doc, x, floor, top);
  draw_y_axis(doc, y, left, end, metric);
  doc.rect({left, top}, end - left, floor - top, {.stroke = "#888888"});
  for (const Curve& curve : panel.curves) draw_curve(doc, curve, x, y, style_of(names, curve.name));
  doc.text({(left + end) / 2, top - 10}, panel.title, {.size = 13, .anchor = svg::Anchor::middle, .bold = true});
}

/// Names in rows over the panels; gives the height that they take.
double draw_legend(svg::Document* doc, const Names& names, double width) {
  double x = left;
  double y = 24;
  for (const std::string& name : names) {
    const double wide = 44 + svg::text_width(name, {.size = 12});
    if (x > left && x + wide > width - right) {
      x = left;
      y += legend_row;
    }
    if (doc != nullptr) {
      doc->line({x, y - 4}, {x + 24, y - 4}, style_of(names, name));
      doc->text({x + 30, y}, name, {.size = 12});
    }
    x += wide;
  }
  return y + 14;
}

}  // namespace

std::string draw_panels(const std::vector<Panel>& panels, Metric metric) {
  const Names names = names_in(panels);
  const std::size_t columns = std::min(most_columns, panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double width = panel_width * static_cast<double>(columns);
  const double legend = draw_legend(nullptr, names, width);
  svg::Document doc(width, legend + panel_height * static_cast<double>(rows), unit_of(metric));
  draw_legend(&doc, names, width);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    doc.begin_group("panel", {panel_width * static_cast<double>(i % columns),
                              legend + panel_height * static_cast<double>(i / columns)});
    draw_panel(doc, panels[i], names, metric);
    doc.end_group();
  }
  return doc.str();
}

}  // namespace tutti::commbench
