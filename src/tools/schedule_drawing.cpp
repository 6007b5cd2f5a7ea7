// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tutti/error.hpp>
#include <utility>

#include "schedules/text.hpp"
#include "tools/timeline.hpp"
#include "tools/units.hpp"

namespace tutti::tools {
namespace {

constexpr double margin = 24;
constexpr double gutter = 150;  ///< for the words beside the rows
constexpr double head = 96;     ///< for title and names of ranks
constexpr double foot = 64;     ///< for the legend
constexpr std::string_view near_colour = "#0072b2";
constexpr std::string_view far_colour = "#d55e00";
constexpr std::string_view reduce_colour = "#009e73";
constexpr std::string_view copy_colour = "#7f7f7f";

/// The drawn elements and their places.
struct Picture {
  const Timeline& timeline;
  const ScheduleCaption& caption;
  std::size_t ranks;
  double column;
  double row;
  std::size_t most_bytes = 1;
  std::vector<std::vector<const TimedMessage*>> by_round{};

  [[nodiscard]] double x(int rank) const { return margin + gutter + column * (static_cast<double>(rank) + 0.5); }
  [[nodiscard]] double y(std::size_t step) const { return head + row * static_cast<double>(step); }
  [[nodiscard]] std::size_t bytes(const schedules::Slice& slice) const { return slice.count * caption.element_size; }
  [[nodiscard]] int node(int rank) const { return caption.node_of.node(rank); }
};

Picture picture_of(const Timeline& timeline, const ScheduleCaption& caption, std::size_t ranks) {
  Picture picture{timeline, caption, ranks, std::clamp(1000.0 / static_cast<double>(ranks), 58.0, 150.0), 62};
  picture.by_round.resize(timeline.steps);
  for (const TimedMessage& message : timeline.messages) {
    picture.by_round[message.leaves].push_back(&message);
    picture.most_bytes = std::max(picture.most_bytes, picture.bytes(message.sent));
  }
  std::size_t busiest = 0;
  for (const auto& step : picture.by_round) busiest = std::max(busiest, step.size());
  // Fans of many arrows need room to stay distinct.
  if (busiest > 2 * ranks) picture.row = busiest > 8 * ranks ? 220 : 120;
  return picture;
}

void draw_rows(svg::Document& drawing, const Picture& picture) {
  const double right = margin + gutter + picture.column * static_cast<double>(picture.ranks);
  for (std::size_t step = 0; step < picture.timeline.steps; ++step)
    if (step % 2 == 0) drawing.rect({margin, picture.y(step)}, right - margin, picture.row, {.fill = "#f5f6f8"});
}

/// "8 x 128 KiB", or the range of sizes.
std::string sizes_text(const Picture& picture, const std::vector<const TimedMessage*>& messages) {
  if (messages.empty()) return "local work";
  std::size_t least = picture.bytes(messages.front()->sent);
  std::size_t most = least;
  for (const TimedMessage* message : messages) {
    least = std::min(least, picture.bytes(message->sent));
    most = std::max(most, picture.bytes(message->sent));
  }
  if (most == 0) return fmt::format("{} signal{}", messages.size(), messages.size() == 1 ? "" : "s");
  const std::string largest = bytes_text(static_cast<double>(most));
  if (least == most) return fmt::format("{} × {}", messages.size(), largest);
  return fmt::format("{} × {} to {}", messages.size(), bytes_text(static_cast<double>(least)), largest);
}

void draw_words(svg::Document& drawing, const Picture& picture, svg::TextPlaces& places) {
  for (std::size_t round = 0; round < picture.timeline.steps; ++round) {
    const double middle = picture.y(round) + picture.row / 2;
    const std::string sizes = sizes_text(picture, picture.by_round[round]);
    const svg::TextStyle small{.size = 10.5, .fill = "#555555"};
    drawing.text({margin + 8, middle - 3}, fmt::format("round {}", round), {.size = 12, .bold = true});
    drawing.text({margin + 8, middle + 13}, sizes, small);
    places.add(svg::text_box({margin + 8, middle + 13}, sizes, small));
  }
}

void draw_ranks(svg::Document& drawing, const Picture& picture) {
  constexpr std::array<std::string_view, 4> tints = {"#dceaf7", "#fbe6d4", "#dff1e3", "#ece2f3"};
  for (int rank = 0; rank < static_cast<int>(picture.ranks); ++rank) {
    const double x = picture.x(rank);
    const auto tint = tints[static_cast<std::size_t>(picture.node(rank)) % tints.size()];
    const double width = std::min(picture.column - 8, 74.0);
    drawing.line({x, head - 12}, {x, picture.y(picture.timeline.steps)}, {.stroke = "#b9bec6", .width = 1.2});
    drawing.rect({x - width / 2, head - 38}, width, 26, {.fill = std::string(tint), .stroke = "#8793a3"}, 5);
    drawing.text({x, head - 20}, picture.ranks <= 24 ? fmt::format("rank {}", rank) : fmt::format("{}", rank),
                 {.size = 12, .anchor = svg::Anchor::middle, .bold = true});
    if (!picture.caption.node_of.empty())
      drawing.text({x, head - 42}, fmt::format("node {}", picture.node(rank)),
                   {.size = 9.5, .fill = "#555555", .anchor = svg::Anchor::middle});
  }
}

svg::Style style_of(const Picture& picture, const TimedMessage& message) {
  const bool is_near = picture.node(message.from) == picture.node(message.to);
  const double share = std::log2(1.0 + static_cast<double>(picture.bytes(message.sent))) /
                       std::log2(1.0 + static_cast<double>(picture.most_bytes));
  const bool is_dense = picture.by_round[message.leaves].size() > 8 * picture.ranks;
  return {.stroke = std::string(is_near ? near_colour : far_colour),
          .width = is_dense ? 0.8 : 1.1 + 1.4 * share,
          .opacity = is_dense ? 0.45 : 0.85,
          .tooltip = fmt::format("rank {} sends {} ({}), rank {} receives it as {}", message.from,
                                 schedules::to_text(message.sent),
                                 bytes_text(static_cast<double>(picture.bytes(message.sent))), message.to,
                                 schedules::to_text(message.received))};
}

/// Whether a round's messages differ in size; otherwise the words beside the row say it for all.
bool has_labels(const Picture& picture, const std::vector<const TimedMessage*>& round) {
  if (round.empty() || round.size() > 2 * picture.ranks) return false;
  return std::any_of(round.begin(), round.end(), [&](const TimedMessage* message) {
    return picture.bytes(message->sent) != picture.bytes(round.front()->sent);
  });
}

/// Writes the size beside an arrow where no other text is, and leaves it out if there is no such place: the tooltip has
/// it too. Begins nearer to the sender than to the middle, where the arrows of an exchange cross.
void draw_label(svg::Document& drawing, svg::TextPlaces& places, svg::Point from, svg::Point to, std::size_t bytes) {
  const svg::TextStyle style{.size = 9, .fill = "#333333", .anchor = svg::Anchor::middle, .halo = true};
  const std::string words = bytes_text(static_cast<double>(bytes));
  const double first = std::min(0.3, 34 / std::max(1.0, std::abs(to.x - from.x)));
  for (const double share : {first, 0.5, 0.7, 0.2, 0.85}) {
    const svg::Point at{from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share + 10};
    if (!places.take(svg::text_box(at, words, style))) continue;
    drawing.text(at, words, style);
    return;
  }
}

void draw_messages(svg::Document& drawing, const Picture& picture, svg::TextPlaces& places) {
  const auto ends = [&](const TimedMessage& message) {
    return std::pair(svg::Point{picture.x(message.from), picture.y(message.leaves) + 6},
                     svg::Point{picture.x(message.to), picture.y(message.arrives + 1) - 16});
  };
  for (const auto& round : picture.by_round)
    for (const TimedMessage* message : round) {
      const auto [from, to] = ends(*message);
      drawing.circle(from, 2.2, {.fill = style_of(picture, *message).stroke});
      drawing.arrow(from, to, style_of(picture, *message), 8);
    }
  for (const auto& round : picture.by_round) {
    if (!has_labels(picture, round)) continue;
    for (const TimedMessage* message : round) {
      const auto [from, to] = ends(*message);
      if (picture.bytes(message->sent) > 0) draw_label(drawing, places, from, to, picture.bytes(message->sent));
    }
  }
}

/// Writes a text that must be where it is.
void place_text(svg::Document& drawing, svg::TextPlaces& places, svg::Point at, std::string_view words,
                const svg::TextStyle& style) {
  places.add(svg::text_box(at, words, style));
  drawing.text(at, words, style);
}

void draw_locals(svg::Document& drawing, const Picture& picture, svg::TextPlaces& places) {
  using Kind = schedules::Local::Kind;
  std::map<std::pair<int, std::size_t>, std::map<Kind, std::vector<const TimedLocal*>>> by_place;
  for (const TimedLocal& local : picture.timeline.locals)
    by_place[{local.rank, local.step}][local.local.kind].push_back(&local);
  for (const auto& [place, kinds] : by_place) {
    double x = picture.x(place.first) - (kinds.size() > 1 ? 8 : 0);
    for (const auto& [kind, list] : kinds) {
      std::string tooltip = fmt::format("rank {}", place.first);
      for (const TimedLocal* one : list) tooltip += "\n" + schedules::to_text(one->local);
      const double y = picture.y(place.second + 1) - 9;
      const bool reduces = kind == Kind::reduce;
      drawing.circle({x, y}, 6.5,
                     {.fill = reduces ? std::string(reduce_colour) : "#ffffff",
                      .stroke = std::string(reduces ? reduce_colour : copy_colour),
                      .width = 1.4,
                      .tooltip = tooltip});
      place_text(drawing, places, {x, y + 3.6}, reduces ? "+" : "=",
                 {.size = 11, .fill = reduces ? "#ffffff" : "#444444", .anchor = svg::Anchor::middle, .bold = true});
      x += 17;
      if (list.size() == 1) continue;
      const std::string times = fmt::format("×{}", list.size());
      const svg::TextStyle small{.size = 8.5, .fill = "#444444", .halo = true};
      place_text(drawing, places, {x - 8, y + 3.5}, times, small);
      x += svg::text_width(times, small);
    }
  }
}

double draw_key(svg::Document& drawing, svg::Point at, std::string_view colour, std::string_view words) {
  drawing.arrow(at, {at.x + 30, at.y}, {.stroke = std::string(colour), .width = 2}, 8);
  drawing.text({at.x + 38, at.y + 4}, words, {.size = 11});
  return at.x + 56 + svg::text_width(words, {.size = 11});
}

double draw_mark_key(svg::Document& drawing, svg::Point at, std::string_view sign, bool filled,
                     std::string_view words) {
  drawing.circle({at.x + 7, at.y}, 6.5,
                 {.fill = filled ? std::string(reduce_colour) : "#ffffff",
                  .stroke = std::string(filled ? reduce_colour : copy_colour),
                  .width = 1.4});
  drawing.text({at.x + 7, at.y + 3.6}, sign,
               {.size = 11, .fill = filled ? "#ffffff" : "#444444", .anchor = svg::Anchor::middle, .bold = true});
  drawing.text({at.x + 20, at.y + 4}, words, {.size = 11});
  return at.x + 40 + svg::text_width(words, {.size = 11});
}

void draw_legend(svg::Document& drawing, const Picture& picture) {
  const double y = picture.y(picture.timeline.steps) + 26;
  const bool has_nodes = !picture.caption.node_of.empty();
  double x = margin + 8;
  x = draw_key(drawing, {x, y}, near_colour, has_nodes ? "message on a node" : "message");
  if (has_nodes) x = draw_key(drawing, {x, y}, far_colour, "between nodes");
  if (!picture.caption.op.empty())
    x = draw_mark_key(drawing, {x, y}, "+", true, "combine (" + picture.caption.op + ")");
  draw_mark_key(drawing, {x, y}, "=", false, "copy");
}

void check_rounds(std::size_t ranks, std::size_t steps) {
  if (ranks <= most_drawn_ranks && steps <= most_drawn_steps) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("a drawing of {} ranks and {} rounds cannot be read: at most {} ranks and {} rounds are drawn; ask "
                  "for fewer ranks",
                  ranks, steps, most_drawn_ranks, most_drawn_steps));
}

}  // namespace

void check_drawable(std::size_t ranks) { check_rounds(ranks, 0); }

svg::Document schedule_drawing(std::span<const schedules::Schedule> schedules, const ScheduleCaption& caption) {
  check_drawable(schedules.size());
  const Timeline timeline = timeline_of(schedules);
  check_rounds(schedules.size(), timeline.steps);
  const Picture picture = picture_of(timeline, caption, schedules.size());
  const double columns = gutter + picture.column * static_cast<double>(picture.ranks);
  const double width = std::max({columns, svg::text_width(caption.title, {.size = 15, .bold = true}), 520.0});
  svg::Document drawing(width + 2 * margin, picture.y(timeline.steps) + foot, caption.title);
  drawing.text({margin, margin + 8}, caption.title, {.size = 15, .bold = true});
  svg::TextPlaces places;
  draw_rows(drawing, picture);
  draw_ranks(drawing, picture);
  draw_words(drawing, picture, places);
  // The marks take their places before the labels, which can go elsewhere.
  draw_locals(drawing, picture, places);
  draw_messages(drawing, picture, places);
  draw_legend(drawing, picture);
  return drawing;
}

}  // namespace tutti::tools
