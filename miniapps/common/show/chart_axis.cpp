// SPDX-License-Identifier: BSD-3-Clause
#include "chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti::miniapps::chart {

namespace {

double base_of(Unit unit) { return unit == Unit::bytes ? 4 : unit == Unit::count ? 2 : 10; }

/// 1, 2 or 5 times a power of ten: about five ticks.
double step_of(double length) {
  const double rough = length / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

std::vector<Tick> linear_ticks(const Axis& axis, const AxisMap& map) {
  std::vector<Tick> ticks;
  const double step = step_of(map.high - map.low);
  for (int i = 0; map.low + i * step <= map.high + step * 1e-6; ++i) {
    const double value = map.low + i * step;
    ticks.push_back({value, value_text(axis.unit, std::abs(value) < step * 1e-6 ? 0 : value), true});
  }
  return ticks;
}

/// Whether texts at successive ticks stay apart: an axis that grows to the right needs the width of the widest.
bool stay_apart(const AxisMap& map, const std::vector<Tick>& ticks) {
  if (ticks.size() < 2) return true;
  double room = 14;
  if (map.to > map.from)
    for (const Tick& tick : ticks) room = std::max(room, svg::text_width(tick.text, {.size = 10}) + 6);
  return std::abs(map.at(ticks[1].value) - map.at(ticks[0].value)) >= room;
}

/// Every power of the base, or as few as their texts need.
std::vector<Tick> power_ticks(const Axis& axis, const AxisMap& map) {
  for (double ratio = base_of(axis.unit);; ratio *= base_of(axis.unit)) {
    std::vector<Tick> ticks;
    for (double value = map.low; value <= map.high * 1.001; value *= ratio)
      ticks.push_back({value, value_text(axis.unit, value), true});
    if (stay_apart(map, ticks)) return ticks;
  }
}

std::vector<Tick> decade_ticks(const Axis& axis, const AxisMap& map) {
  std::vector<Tick> ticks;
  const bool is_short = map.high / map.low < 1001;
  for (double decade = map.low; decade <= map.high * 1.001; decade *= 10) {
    for (int digit = 1; digit < 10 && decade * digit <= map.high * 1.001; ++digit) {
      const bool has_text = digit == 1 || (is_short && (digit == 2 || digit == 5));
      ticks.push_back({decade * digit, has_text ? value_text(axis.unit, decade * digit) : "", digit == 1});
    }
  }
  return ticks;
}

}  // namespace

double AxisMap::at(double value) const {
  const double share =
      is_log ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low)) : (value - low) / (high - low);
  return from + share * (to - from);
}

AxisMap make_map(const Axis& axis, double low, double high, double from, double to) {
  if (axis.scale == Scale::linear) {
    low = std::min(0.0, low);
    high = std::max({high, 0.0, low + 1e-9});
    const double step = step_of(high - low);
    return {false, std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, from, to};
  }
  const double base = base_of(axis.unit);
  const double first = std::floor(std::log(low) / std::log(base) + 1e-9);
  const double last = std::max(first + 1, std::ceil(std::log(high) / std::log(base) - 1e-9));
  return {true, std::pow(base, first), std::pow(base, last), from, to};
}

std::vector<Tick> ticks_of(const Axis& axis, const AxisMap& map) {
  if (!map.is_log) return linear_ticks(axis, map);
  return axis.unit == Unit::number ? decade_ticks(axis, map) : power_ticks(axis, map);
}

std::string value_text(Unit unit, double value) {
  if (unit != Unit::bytes) return fmt::format("{:.4g}", value);
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t power = 0;
  for (; value >= 1024 && power < 4; ++power) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[power]);
}

svg::Style style_of(const std::vector<std::string>& names, const std::string& name) {
  static constexpr const char* dashes[] = {"", "6 3", "2 3", "8 3 2 3"};
  const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  svg::Style style;
  style.stroke = std::string(svg::palette[index % svg::palette.size()]);
  style.width = 1.8;
  style.dash = dashes[index / svg::palette.size() % 4];
  return style;
}

svg::Style reference_style() { return {.stroke = "#9a9a9a", .width = 1.2, .dash = "5 4"}; }

double draw_legend(svg::Document* doc, const std::vector<std::string>& names, double left, double width, bool filled,
                   const std::string& reference) {
  constexpr double row = 20;
  double x = left;
  double y = 24;
  const auto draw = [&](const std::string& name, const svg::Style& style) {
    const double wide = 44 + svg::text_width(name, {.size = 12});
    if (x > left && x + wide > width) {
      x = left;
      y += row;
    }
    if (doc != nullptr) {
      if (filled) {
        doc->rect({x + 8, y - 10}, 14, 11, {.fill = style.stroke});
      } else {
        doc->line({x, y - 4}, {x + 24, y - 4}, style);
      }
      doc->text({x + 30, y}, name, {.size = 12});
    }
    x += wide;
  };
  for (const std::string& name : names) draw(name, style_of(names, name));
  if (!reference.empty()) draw(reference, reference_style());
  return y + 14;
}

}  // namespace tutti::miniapps::chart
