// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::svg {

/// Colours that stay apart in print and for most kinds of colour blindness (Okabe and Ito).
inline constexpr std::array<std::string_view, 8> palette = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                            "#e69f00", "#56b4e9", "#7f7f7f", "#5b3a8c"};

struct Point {
  double x = 0;
  double y = 0;
};

/// The style of a shape. Colours are those of CSS; "none" leaves a part out.
struct Style {
  std::string fill = "none";
  std::string stroke = "none";
  double width = 1;       ///< stroke width
  std::string dash{};     ///< "4 3"; empty: solid
  std::string tooltip{};  ///< shown by viewers when the pointer rests on the shape
};

enum class Anchor : unsigned char { start, middle, end };

/// The style of a text. Its point lies on the base line.
struct TextStyle {
  double size = 12;
  std::string fill = "#222222";
  Anchor anchor = Anchor::start;
  bool bold = false;
  double rotate = 0;  ///< degrees, clockwise, about the point
};

/// Escapes a text for XML: the five special characters become entities, control characters become blanks.
[[nodiscard]] std::string escape(std::string_view text);

/// The approximate width of a text in a sans-serif font, good enough for layout.
[[nodiscard]] double text_width(std::string_view text, const TextStyle& style);

/// A drawing made from the bottom layer to the top: later shapes cover earlier ones. Units are pixels; y grows
/// downwards. The result is one self-contained SVG 1.1 document without scripts or outside references.
class Document {
 public:
  /// Makes an empty drawing on white. Viewers and screen readers show its title.
  Document(double width, double height, std::string_view title);

  Document& rect(Point corner, double width, double height, const Style& style);
  Document& circle(Point centre, double radius, const Style& style);
  Document& line(Point from, Point to, const Style& style);
  Document& polyline(std::span<const Point> points, const Style& style);
  Document& text(Point at, std::string_view words, const TextStyle& style = {});

  /// Begins a group of the shapes until the matching end_group, moved by `shift`. The name becomes its class.
  Document& begin_group(std::string_view name, Point shift = {});
  Document& end_group();

  /// The document, in which open groups are closed.
  [[nodiscard]] std::string str() const;

 private:
  void shape(std::string_view element, const std::string& attributes, const Style& style);
  double width_;
  double height_;
  std::string title_;
  std::string body_;
  int open_groups_ = 0;
};

}  // namespace tutti::svg
