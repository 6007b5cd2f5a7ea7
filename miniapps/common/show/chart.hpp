// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::miniapps::chart {

enum class Scale : std::uint8_t {
  linear,  ///< from 0, or the lowest value below it
  log,     ///< whole powers; values above 0 only
};

/// How numbers at an axis are written. It is also the base of a logarithmic axis: 2 for counts, 4 for bytes, else 10.
enum class Unit : std::uint8_t { number, count, bytes };

struct Axis {
  std::string label;
  Scale scale = Scale::linear;
  Unit unit = Unit::number;
};

/// One line with a dot at each point; a single point is a larger dot.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  bool is_reference = false;  ///< a thin grey line without dots, such as an ideal
};

struct Panel {
  std::string title;
  std::vector<Series> series;
  std::string y_label{};  ///< instead of the axis' own
};

/// What stands over a chart.
struct Heading {
  std::string title;
  std::string notes{};  ///< a smaller line below: machine, libraries, date
};

/// Panels beside and below one another, with the same kind of axes; a name has one colour in all of them, told once
/// over them. The SVG document as text. Throws tutti::Error (invalid_argument) where there is nothing to draw.
[[nodiscard]] std::string draw_panels(const std::vector<Panel>& panels, const Axis& x, const Axis& y,
                                      const Heading& heading);

/// One part of a bar.
struct Segment {
  std::string name;
  double value = 0;
  bool below = false;  ///< a thin bar under the others that ends where the parts before it end: what runs beside them
};

struct Bar {
  std::string label;
  std::vector<Segment> segments;
};

/// Horizontal bars of parts in a row, the sum at the end; a name has one colour. The SVG document as text.
[[nodiscard]] std::string draw_bars(const std::vector<Bar>& bars, const std::string& title, const std::string& unit);

}  // namespace tutti::miniapps::chart
