// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

#include "chart.hpp"
#include "chart_axis.hpp"

namespace tutti::miniapps::chart {

namespace {

constexpr double row_height = 44;
constexpr double bar_height = 22;
constexpr double thin_height = 7;
constexpr double plot_width = 620;
constexpr double right = 80;
constexpr double bottom = 44;
constexpr double title_height = 30;

using Names = std::vector<std::string>;

Names names_in(const std::vector<Bar>& bars) {
  Names names;
  for (const Bar& bar : bars)
    for (const Segment& segment : bar.segments)
      if (std::find(names.begin(), names.end(), segment.name) == names.end()) names.push_back(segment.name);
  return names;
}

double length_of(const Bar& bar) {
  double sum = 0;
  for (const Segment& segment : bar.segments) sum += segment.below ? 0 : segment.value;
  return sum;
}

double label_width(const std::vector<Bar>& bars) {
  double widest = 0;
  for (const Bar& bar : bars) widest = std::max(widest, svg::text_width(bar.label, {.size = 12}));
  return widest + 24;
}

void draw_bar(svg::Document& doc, const Bar& bar, const Names& names, const AxisMap& x, double y) {
  double at = 0;
  for (const Segment& segment : bar.segments) {
    const svg::Style style{.fill = style_of(names, segment.name).stroke,
                           .tooltip = fmt::format("{}, {}: {:.2f}", bar.label, segment.name, segment.value)};
    const double begin = segment.below ? std::max(0.0, at - segment.value) : at;
    const double end = segment.below ? at : at + segment.value;
    const double height = segment.below ? thin_height : bar_height;
    doc.rect({x.at(begin), segment.below ? y + bar_height + 1 : y}, x.at(end) - x.at(begin), height, style);
    if (!segment.below) at = end;
  }
  doc.text({x.from - 8, y + bar_height / 2 + 4}, bar.label, {.size = 12, .anchor = svg::Anchor::end});
  doc.text({x.at(at) + 6, y + bar_height / 2 + 4}, fmt::format("{:.1f}", at), {.size = 11});
}

}  // namespace

std::string draw_bars(const std::vector<Bar>& bars, const std::string& title, const std::string& unit) {
  if (bars.empty()) throw Error(ErrorCode::invalid_argument, "chart: there are no bars to draw");
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, length_of(bar));
  const Names names = names_in(bars);
  const Axis axis{unit, Scale::linear, Unit::number};
  const double left = label_width(bars);
  const double width = left + plot_width + right;
  const double top = title_height + draw_legend(nullptr, names, left, width - 20, true);
  const double floor = top + row_height * static_cast<double>(bars.size());
  const AxisMap x = make_map(axis, 0, longest, left, left + plot_width);
  svg::Document doc(width, floor + bottom, title);
  doc.text({left, 22}, title, {.size = 14, .bold = true});
  doc.begin_group("legend", {0, title_height});
  draw_legend(&doc, names, left, width - 20, true);
  doc.end_group();
  for (const Tick& tick : ticks_of(axis, x)) {
    doc.line({x.at(tick.value), top}, {x.at(tick.value), floor}, {.stroke = "#e4e4e4"});
    doc.text({x.at(tick.value), floor + 16}, tick.text, {.size = 10, .anchor = svg::Anchor::middle});
  }
  doc.text({left + plot_width / 2, floor + 34}, unit, {.size = 12, .anchor = svg::Anchor::middle});
  for (std::size_t i = 0; i < bars.size(); ++i)
    draw_bar(doc, bars[i], names, x, top + 8 + row_height * static_cast<double>(i));
  return doc.str();
}

}  // namespace tutti::miniapps::chart
