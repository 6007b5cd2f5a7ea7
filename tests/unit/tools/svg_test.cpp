// SPDX-License-Identifier: BSD-3-Clause
#include "common/show/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <tutti/error.hpp>

#include "support.hpp"

namespace {

using namespace tutti;
using ::testing::HasSubstr;
using ::testing::Not;
using tools::testing::xml_fault;

TEST(Svg, IsOneWellFormedDocument) {
  svg::Document drawing(200, 100, "a & b");
  const std::array<svg::Point, 3> points = {svg::Point{0, 0}, svg::Point{1.5, 2.25}, svg::Point{3, -4}};
  drawing.rect({1, 2}, 3, 4, {.fill = "#fff", .stroke = "#000", .tooltip = "x < y \"quoted\""}, 2)
      .line({0, 0}, {1, 1}, {.stroke = "red", .dash = "4 2"})
      .arrow({0, 0}, {10, 0}, {.stroke = "blue"})
      .circle({5, 5}, 2, {.fill = "green", .opacity = 0.5})
      .polyline(points, {.stroke = "black"})
      .begin_group("legend", {3, 4})
      .text({1, 1}, "1 < 2 & 'so'", {.anchor = svg::Anchor::middle, .bold = true, .rotate = -90, .halo = true})
      .end_group();
  const std::string text = drawing.str();
  EXPECT_EQ(xml_fault(text), "");
  EXPECT_THAT(text, HasSubstr("<title>a &amp; b</title>"));
  EXPECT_THAT(text, HasSubstr("1 &lt; 2 &amp; &#39;so&#39;"));
  EXPECT_THAT(text, HasSubstr("points=\"0,0 1.5,2.25 3,-4\""));
  EXPECT_THAT(text, HasSubstr("viewBox=\"0 0 200 100\""));
}

TEST(Svg, TheCheckOfTheseTestsFindsFaults) {
  const std::string start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_EQ(xml_fault(start + "<g><a x=\"1\"/></g>\n"), "");
  EXPECT_NE(xml_fault(start + "<g><a></g></a>"), "");
  EXPECT_NE(xml_fault(start + "<g>a & b</g>"), "");
  EXPECT_NE(xml_fault(start + "<g x=1></g>"), "");
  EXPECT_NE(xml_fault(start + "<g>"), "");
}

TEST(Svg, ControlCharactersBecomeBlanks) { EXPECT_EQ(svg::escape(std::string("a\x01\x1b[b\n", 6)), "a  [b\n"); }

TEST(Svg, OpenGroupsAreClosedInTheResult) {
  svg::Document drawing(10, 10, "t");
  drawing.begin_group("outer").begin_group("inner");
  EXPECT_EQ(xml_fault(drawing.str()), "");
  drawing.end_group().end_group();
  EXPECT_THROW(drawing.end_group(), Error);
}

TEST(Svg, RefusesCoordinatesThatAreNoNumbers) {
  svg::Document drawing(10, 10, "t");
  EXPECT_THROW(drawing.line({0, 0}, {std::numeric_limits<double>::quiet_NaN(), 0}, {}), Error);
  EXPECT_THROW(drawing.circle({std::numeric_limits<double>::infinity(), 0}, 1, {}), Error);
}

TEST(Svg, AnArrowOfNoLengthIsLeftOut) {
  svg::Document drawing(10, 10, "t");
  const std::string before = drawing.str();
  drawing.arrow({1, 1}, {1, 1}, {.stroke = "red"});
  EXPECT_EQ(drawing.str(), before);
}

TEST(Svg, SavesWhatItIs) {
  const std::string path = ::testing::TempDir() + "/tutti_svg_test.svg";
  svg::Document drawing(10, 10, "saved");
  drawing.save(path);
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, drawing.str());
  std::remove(path.c_str());
}

TEST(Svg, NamesTheFileThatCannotBeWritten) {
  try {
    svg::Document(10, 10, "t").save("/nowhere/at/all.svg");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/at/all.svg"));
  }
}

}  // namespace
