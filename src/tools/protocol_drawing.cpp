// SPDX-License-Identifier: BSD-3-Clause
#include "tools/protocol_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tutti/error.hpp>

#include "tools/schedule_drawing.hpp"

namespace tutti::tools {
namespace {

using Move = ProtocolView::Move;

constexpr double frame_margin = 24;
constexpr double frame_gutter = 130;
constexpr double top = 92;
constexpr double box_height = 30;

struct Frame {
  double column = 0;
  double gap = 0;  ///< between layers
  int ranks = 0;
  [[nodiscard]] double x(int rank) const { return frame_margin + frame_gutter + column * (rank + 0.5); }
  [[nodiscard]] double y(std::size_t layer) const { return top + static_cast<double>(layer) * (box_height + gap); }
  [[nodiscard]] double right() const { return frame_margin + frame_gutter + column * ranks; }
};

std::string colour_of(Move move) {
  switch (move) {
    case Move::store:
      return "#0072b2";
    case Move::combine:
      return "#009e73";
    case Move::write:
      return "#d55e00";
    default:
      return "#56b4e9";
  }
}

std::string_view name_of(Move move) {
  constexpr std::array<std::string_view, 5> names = {"store into the segment", "load from the segment",
                                                     "load and combine", "read from a process", "write into a process"};
  return names[static_cast<std::size_t>(move)];
}

void draw_layer(svg::Document& drawing, const Frame& frame, const ProtocolView::Layer& layer, std::size_t index) {
  const double y = frame.y(index);
  if (layer.is_shared)
    drawing.rect({frame_margin, y - 12}, frame.right() - frame_margin, box_height + 24,
                 {.fill = "#fff7e0", .stroke = "#d9b44a", .dash = "5 3"}, 8);
  drawing.text({frame_margin + 8, y + 19}, layer.name, {.size = 12, .bold = true});
  const double width = std::min(frame.column - 8, 96.0);
  for (std::size_t rank = 0; rank < layer.boxes.size(); ++rank) {
    const auto& box = layer.boxes[rank];
    if (box.words.empty()) continue;
    drawing.rect({frame.x(static_cast<int>(rank)) - width / 2, y}, width, box_height,
                 {.fill = layer.is_shared ? "#ffe9a8" : "#e3edf7", .stroke = "#8793a3", .tooltip = box.tooltip}, 5);
    drawing.text({frame.x(static_cast<int>(rank)), y + 19}, box.words,
                 {.size = frame.column < 70 ? 9.5 : 11, .anchor = svg::Anchor::middle});
  }
}

void draw_step(svg::Document& drawing, const Frame& frame, const ProtocolView::Step& step, std::size_t index) {
  for (const auto& arrow : step.arrows) {
    const svg::Point from{frame.x(arrow.from), frame.y(index) + box_height + 2};
    const svg::Point to{frame.x(arrow.to), frame.y(index + 1) - 3};
    drawing.arrow(from, to,
                  {.stroke = colour_of(arrow.move),
                   .width = 1.5,
                   .opacity = 0.85,
                   .tooltip = fmt::format("rank {} to rank {}: {}", arrow.from, arrow.to, name_of(arrow.move))},
                  8);
  }
  drawing.text({frame_margin + 8, frame.y(index) + box_height + frame.gap / 2 + 4}, fmt::format("{}", index + 1),
               {.size = 15, .fill = "#555555", .bold = true});
}

void draw_words(svg::Document& drawing, const Frame& frame, const ProtocolView& view) {
  double y = frame.y(view.layers.size() - 1) + box_height + 34;
  for (std::size_t i = 0; i < view.steps.size(); ++i) {
    drawing.text({frame_margin + 8, y}, fmt::format("{}  {}", i + 1, view.steps[i].words), {.size = 12});
    y += 20;
  }
  double x = frame_margin + 8;
  std::array<bool, 5> is_used{};
  for (const auto& step : view.steps)
    for (const auto& arrow : step.arrows) is_used[static_cast<std::size_t>(arrow.move)] = true;
  for (std::size_t i = 0; i < is_used.size(); ++i) {
    if (!is_used[i]) continue;
    const auto move = static_cast<Move>(i);
    drawing.arrow({x, y + 8}, {x + 30, y + 8}, {.stroke = colour_of(move), .width = 2}, 8);
    drawing.text({x + 38, y + 12}, name_of(move), {.size = 11});
    x += 62 + svg::text_width(name_of(move), {.size = 11});
  }
}

}  // namespace

svg::Document protocol_drawing(const ProtocolView& view, const std::string& title) {
  const std::size_t ranks = view.layers.front().boxes.size();
  if (ranks > most_drawn_ranks)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a drawing of {} ranks cannot be read: at most {} are drawn; ask for fewer", ranks,
                            most_drawn_ranks));
  Frame frame{std::clamp(1000.0 / static_cast<double>(ranks), 60.0, 160.0), ranks > 8 ? 150.0 : 110.0,
              static_cast<int>(ranks)};
  double width = std::max(frame.right(), frame_margin + svg::text_width(title, {.size = 15, .bold = true}));
  for (const auto& step : view.steps) width = std::max(width, frame_margin + 36 + svg::text_width(step.words, {}));
  width = std::max(width, 640.0);
  const double height =
      frame.y(view.layers.size() - 1) + box_height + 34 + 20 * static_cast<double>(view.steps.size()) + 44;
  svg::Document drawing(width + frame_margin, height, title);
  drawing.text({frame_margin, frame_margin + 8}, title, {.size = 15, .bold = true});
  for (int rank = 0; rank < frame.ranks; ++rank)
    drawing.text({frame.x(rank), top - 18}, frame.ranks <= 24 ? fmt::format("rank {}", rank) : fmt::format("{}", rank),
                 {.size = 12, .anchor = svg::Anchor::middle, .bold = true});
  for (std::size_t i = 0; i < view.layers.size(); ++i) draw_layer(drawing, frame, view.layers[i], i);
  for (std::size_t i = 0; i < view.steps.size(); ++i) draw_step(drawing, frame, view.steps[i], i);
  draw_words(drawing, frame, view);
  return drawing;
}

}  // namespace tutti::tools
