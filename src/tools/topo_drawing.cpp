// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "tools/topo.hpp"

namespace tutti::tools {
namespace {

using detail::Connection;
using detail::Hardware;

constexpr double cell_height = 26;
constexpr double frame_edge = 24;
constexpr double legend_row = 22;

struct Colours {
  std::string_view fill;
  std::string_view ink;
};

/// Nearer connections are darker; NVLink stands apart in green.
Colours colours_of(Connection link) {
  switch (link) {
    case Connection::self:
      return {"#ececec", "#777777"};
    case Connection::core:
      return {"#08306b", "#ffffff"};
    case Connection::nvlink:
      return {"#1b7837", "#ffffff"};
    case Connection::pix:
      return {"#08519c", "#ffffff"};
    case Connection::pxb:
      return {"#2171b5", "#ffffff"};
    case Connection::l3:
      return {"#4292c6", "#ffffff"};
    case Connection::phb:
      return {"#9ecae1", "#16324a"};
    case Connection::node:
      return {"#c6dbef", "#16324a"};
    case Connection::sys:
      return {"#fdd49e", "#5a3310"};
    default:
      return {"#fc8d59", "#4a1c0a"};
  }
}

struct MatrixFrame {
  double names = 0;  ///< width of the names of the rows, height of those of the columns
  double cell = 0;   ///< width of a cell
  double count = 0;  ///< rows and columns
  double top = 0;    ///< top of the matrix
  [[nodiscard]] double left() const { return frame_edge + names; }
  [[nodiscard]] double x(std::size_t column) const { return left() + cell * static_cast<double>(column); }
  [[nodiscard]] double y(std::size_t row) const { return top + cell_height * static_cast<double>(row); }
};

MatrixFrame frame_of(const Hardware& hardware) {
  MatrixFrame frame;
  frame.cell = 46;
  frame.count = static_cast<double>(hardware.elements.size());
  for (const auto& element : hardware.elements)
    frame.names = std::max(frame.names, svg::text_width(element.name, {.size = 12, .bold = true}) + 10);
  frame.top = frame_edge + 34 + frame.names;
  return frame;
}

void draw_names(svg::Document& drawing, const Hardware& hardware, const MatrixFrame& frame) {
  for (std::size_t i = 0; i < hardware.elements.size(); ++i) {
    const std::string& name = hardware.elements[i].name;
    drawing.text({frame.left() - 8, frame.y(i) + cell_height * 0.66}, name,
                 {.size = 12, .anchor = svg::Anchor::end, .bold = true});
    drawing.text({frame.x(i) + frame.cell * 0.5 + 4, frame.top - 8}, name, {.size = 12, .bold = true, .rotate = -90});
  }
}

void draw_cells(svg::Document& drawing, const Hardware& hardware, const MatrixFrame& frame) {
  for (std::size_t row = 0; row < hardware.elements.size(); ++row)
    for (std::size_t column = 0; column < hardware.elements.size(); ++column) {
      const detail::Relation cell = detail::relation(hardware, row, column);
      const Colours colours = colours_of(cell.link);
      const std::string label = detail::to_text(cell);
      drawing.rect(
          {frame.x(column) + 1, frame.y(row) + 1}, frame.cell - 2, cell_height - 2,
          {.fill = std::string(colours.fill),
           .tooltip = fmt::format("{} – {}: {}", hardware.elements[row].name, hardware.elements[column].name, label)},
          3);
      drawing.text({frame.x(column) + frame.cell / 2, frame.y(row) + cell_height * 0.66}, label,
                   {.size = 11, .fill = std::string(colours.ink), .anchor = svg::Anchor::middle});
    }
}

/// Thin rules between kinds of elements, so that ranks, cores and devices read as blocks.
void draw_rules(svg::Document& drawing, const Hardware& hardware, const MatrixFrame& frame) {
  const svg::Style rule{.stroke = "#999999", .width = 1.2};
  const double length = frame.names + frame.count * frame.cell;
  for (std::size_t i = 1; i < hardware.elements.size(); ++i) {
    const auto& before = hardware.elements[i - 1];
    const auto& here = hardware.elements[i];
    if (before.kind == here.kind && before.node == here.node) continue;
    drawing.line({frame_edge, frame.y(i)}, {frame_edge + length, frame.y(i)}, rule);
    drawing.line({frame.x(i), frame.top - frame.names}, {frame.x(i), frame.y(hardware.elements.size())}, rule);
  }
}

void draw_legend(svg::Document& drawing, const MatrixFrame& frame) {
  double y = frame.top + frame.count * cell_height + 26;
  for (const auto& entry : detail::link_legend()) {
    const Colours colours = colours_of(entry.link);
    drawing.rect({frame_edge, y}, 46, 18, {.fill = std::string(colours.fill)}, 3);
    drawing.text({frame_edge + 23, y + 13}, entry.label,
                 {.size = 11, .fill = std::string(colours.ink), .anchor = svg::Anchor::middle});
    drawing.text({frame_edge + 56, y + 13}, entry.meaning, {.size = 12});
    y += legend_row;
  }
}

double legend_width() {
  double widest = 0;
  for (const auto& entry : detail::link_legend()) widest = std::max(widest, svg::text_width(entry.meaning, {}));
  return widest + 56;
}

}  // namespace

svg::Document topo_drawing(const Hardware& hardware) {
  const MatrixFrame frame = frame_of(hardware);
  const std::string title = detail::summary(hardware);
  const double width = std::max(
      {frame.names + frame.count * frame.cell, legend_width(), svg::text_width(title, {.size = 15, .bold = true})});
  const double legend = 26 + legend_row * static_cast<double>(detail::link_legend().size());
  svg::Document drawing(width + 2 * frame_edge, frame.top + frame.count * cell_height + legend + frame_edge, title);
  drawing.text({frame_edge, frame_edge + 12}, title, {.size = 15, .bold = true});
  draw_names(drawing, hardware, frame);
  draw_cells(drawing, hardware, frame);
  draw_rules(drawing, hardware, frame);
  draw_legend(drawing, frame);
  return drawing;
}

}  // namespace tutti::tools
