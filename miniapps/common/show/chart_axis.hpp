// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "chart.hpp"
#include "svg.hpp"

namespace tutti::miniapps::chart {

/// Values to pixels.
struct AxisMap {
  bool is_log = false;
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;
  [[nodiscard]] double at(double value) const;
};

struct Tick {
  double value = 0;
  std::string text;      ///< empty: a fine line only
  bool is_main = false;  ///< a stronger line
};

/// An axis that holds [low, high] between the pixels `from` and `to`.
[[nodiscard]] AxisMap make_map(const Axis& axis, double low, double high, double from, double to);
[[nodiscard]] std::vector<Tick> ticks_of(const Axis& axis, const AxisMap& map);

/// "25.6", "64", "4 MiB".
[[nodiscard]] std::string value_text(Unit unit, double value);

/// The line of a name: colours repeat after eight names, with another dash.
[[nodiscard]] svg::Style style_of(const std::vector<std::string>& names, const std::string& name);

/// The line of a reference.
[[nodiscard]] svg::Style reference_style();

/// Names in rows from `left` on; gives the height that they take. Without a document only that. `filled`: squares, else
/// lines. The name of a reference, if there is one, comes last.
double draw_legend(svg::Document* doc, const std::vector<std::string>& names, double left, double width, bool filled,
                   const std::string& reference = {});

}  // namespace tutti::miniapps::chart
