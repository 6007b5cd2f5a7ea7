// SPDX-License-Identifier: BSD-3-Clause
#include "common/show/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <tutti/error.hpp>

#include "support/svg_texts.hpp"

namespace {

using namespace tutti;
using svg::testing::text_faults;
using ::testing::HasSubstr;

/// The name of a tag's element, or what is wrong with the tag.
bool read_tag(const std::string& tag, std::string& name) {
  static const std::regex shape(R"re(/?([A-Za-z]+)(\s+[A-Za-z0-9:_-]+="[^"<]*")*\s*/?)re");
  std::smatch found;
  if (!std::regex_match(tag, found, shape)) return false;
  name = found[1];
  return true;
}

bool text_is_clean(const std::string& text) {
  static const std::regex entity("&(amp|lt|gt|quot|#39);");
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1))
    if (!std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), entity,
                           std::regex_constants::match_continuous))
      return false;
  return text.find('>') == std::string::npos;
}

/// What is wrong with a document as XML: tags that do not match, attributes without quotes, unknown entities; empty
/// where nothing is.
std::string xml_fault(const std::string& document) {
  std::vector<std::string> open;
  const std::string start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (document.rfind(start, 0) != 0) return "no declaration";
  std::size_t at = start.size();
  while (at < document.size()) {
    const std::size_t less = document.find('<', at);
    if (!text_is_clean(document.substr(at, less == std::string::npos ? less : less - at))) return "bad text";
    if (less == std::string::npos) break;
    const std::size_t greater = document.find('>', less);
    if (greater == std::string::npos) return "a tag without end";
    const std::string tag = document.substr(less + 1, greater - less - 1);
    std::string name;
    if (!read_tag(tag, name)) return "bad tag: " + tag;
    at = greater + 1;
    if (tag.back() == '/') continue;
    if (tag.front() != '/') {
      open.push_back(name);
    } else {
      if (open.empty() || open.back() != name) return "unexpected end of " + name;
      open.pop_back();
      if (open.empty() && document.find_first_not_of('\n', at) != std::string::npos) return "text after the end";
    }
  }
  return open.empty() ? "" : "no end of " + open.back();
}

TEST(Svg, IsOneWellFormedDocument) {
  svg::Document drawing(200, 100, "a & b");
  const std::array<svg::Point, 3> points = {svg::Point{0, 0}, svg::Point{1.5, 2.25}, svg::Point{3, -4}};
  drawing.rect({1, 2}, 3, 4, {.fill = "#fff", .stroke = "#000", .tooltip = "x < y \"quoted\""})
      .line({0, 0}, {1, 1}, {.stroke = "red", .dash = "4 2"})
      .circle({5, 5}, 2, {.fill = "green"})
      .polyline(points, {.stroke = "black"})
      .begin_group("legend", {3, 4})
      .text({1, 1}, "1 < 2 & 'so'", {.anchor = svg::Anchor::middle, .bold = true, .rotate = -90})
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

TEST(Svg, TheCheckOfTextsFindsFaults) {
  svg::Document drawing(200, 100, "t");
  drawing.text({20, 20}, "one", {.size = 12}).begin_group("g", {0, 40}).text({20, 20}, "two", {.size = 12}).end_group();
  EXPECT_EQ(text_faults(drawing.str()), "");
  drawing.begin_group("g", {5, 2}).text({20, 20}, "over", {.size = 12}).end_group();
  EXPECT_THAT(text_faults(drawing.str()), HasSubstr("'one' is over 'over'"));
  drawing.text({190, 90}, "a long text", {.size = 12});
  EXPECT_THAT(text_faults(drawing.str()), HasSubstr("'a long text' leaves the drawing"));
}

}  // namespace
