// SPDX-License-Identifier: BSD-3-Clause
// Charts of the mini-apps: axes, ticks, bars, and what they refuse.
#include <gtest/gtest.h>

#include <limits>
#include <tutti/error.hpp>

#include "common/show/chart.hpp"
#include "common/show/chart_axis.hpp"
#include "support/svg_texts.hpp"

namespace {

using namespace tutti::miniapps::chart;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> texts_of(const std::vector<Tick>& ticks) {
  std::vector<std::string> texts;
  for (const Tick& tick : ticks)
    if (!tick.text.empty()) texts.push_back(tick.text);
  return texts;
}

TEST(Axis, LinearBeginsAtZeroAndEndsAtARoundNumber) {
  const Axis axis{"ms", Scale::linear, Unit::number};
  const AxisMap map = make_map(axis, 12, 437, 300, 0);
  EXPECT_DOUBLE_EQ(map.at(0), 300);
  EXPECT_DOUBLE_EQ(map.at(500), 0);
  EXPECT_EQ(texts_of(ticks_of(axis, map)), (std::vector<std::string>{"0", "100", "200", "300", "400", "500"}));
  EXPECT_LT(make_map(axis, -3, 10, 0, 1).low, -2.9);
  EXPECT_EQ(make_map(axis, 0, 0, 0, 1).low, 0);
}

TEST(Axis, LogarithmicHasWholePowersOfItsBase) {
  const Axis bytes{"size", Scale::log, Unit::bytes};
  EXPECT_EQ(texts_of(ticks_of(bytes, make_map(bytes, 4096, 300000, 0, 300))),
            (std::vector<std::string>{"4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"}));
  const Axis ranks{"ranks", Scale::log, Unit::count};
  EXPECT_EQ(texts_of(ticks_of(ranks, make_map(ranks, 1, 6, 0, 100))), (std::vector<std::string>{"1", "2", "4", "8"}));
  EXPECT_DOUBLE_EQ(make_map(ranks, 1, 6, 0, 90).at(2), 30);
  const Axis decades{"µs", Scale::log, Unit::number};
  EXPECT_EQ(texts_of(ticks_of(decades, make_map(decades, 3, 40, 0, 1))),
            (std::vector<std::string>{"1", "2", "5", "10", "20", "50", "100"}));
}

TEST(Panels, HaveAColourANameAndADotAPoint) {
  const std::vector<Panel> panels{{"first", {{"a<b", {1, 2}, {3, 4}}, {"one", {2}, {5}}}, ""},
                                  {"second", {{"a<b", {1, 4}, {3, 1}}}, "its own"}};
  const std::string svg = draw_panels(panels, {"x", Scale::log, Unit::count}, {"y"}, {"title", "notes"});
  EXPECT_EQ(count_of(svg, "class=\"panel\""), 2U);
  EXPECT_EQ(count_of(svg, "<circle"), 5U);
  EXPECT_EQ(count_of(svg, "<polyline"), 2U);
  EXPECT_EQ(count_of(svg, ">a&lt;b</text>"), 1U) << "told once, for both panels";
  EXPECT_EQ(count_of(svg, ">its own</text>"), 1U);
  EXPECT_EQ(count_of(svg, ">y</text>"), 1U);
  EXPECT_EQ(count_of(svg, ">title</text>"), 1U);
  EXPECT_EQ(count_of(svg, ">notes</text>"), 1U);
  EXPECT_EQ(tutti::svg::testing::text_faults(svg), "");
}

TEST(Panels, HaveNoTextOverAnother) {
  for (const Unit unit : {Unit::number, Unit::count, Unit::bytes})
    for (const double most : {2.0, 40.0, 3e3, 6.4e7, 1e12})
      for (const Scale scale : {Scale::linear, Scale::log}) {
        const std::vector<Panel> panels{
            {"a panel", {{"a", {1, most}, {0.01, most}}, {"ideal", {1, most}, {1, 1}, true}}, ""},
            {"another", {{"a way with a long name", {1, most}, {1, most}}}, ""}};
        const std::string svg =
            draw_panels(panels, {"x", scale, unit}, {"y", scale, Unit::number},
                        {"a title that is longer than one panel is wide, as long titles are", "notes"});
        EXPECT_EQ(tutti::svg::testing::text_faults(svg), "") << static_cast<int>(unit) << " " << most;
        EXPECT_EQ(count_of(svg, ">ideal</text>"), 1U);
      }
}

TEST(Panels, WithoutPointsAreRefused) {
  EXPECT_THROW((void)draw_panels({}, {"x"}, {"y"}, {}), tutti::Error);
  EXPECT_THROW((void)draw_panels({{"empty", {}, ""}}, {"x"}, {"y"}, {}), tutti::Error);
}

TEST(Bars, AreAsLongAsTheirPartsAndEndWithTheSum) {
  const std::string svg =
      draw_bars({{"overlap", {{"backward", 30}, {"hidden", 12, true}, {"exposed", 4.5}}}, {"none", {{"backward", 30}}}},
                "bars", "ms");
  EXPECT_EQ(count_of(svg, ">34.5</text>"), 1U) << "what is below counts in no sum";
  EXPECT_EQ(count_of(svg, ">30.0</text>"), 1U);
  EXPECT_EQ(count_of(svg, "overlap, hidden: 12.00"), 1U);
  EXPECT_EQ(count_of(svg, ">hidden</text>"), 1U);
  EXPECT_EQ(tutti::svg::testing::text_faults(svg), "");
  EXPECT_THROW((void)draw_bars({}, "bars", "ms"), tutti::Error);
}

TEST(Charts, RefuseWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)draw_bars({{"bar", {{"part", nan}}}}, "bars", "ms"), tutti::Error);
}

}  // namespace
