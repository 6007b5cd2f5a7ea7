// SPDX-License-Identifier: BSD-3-Clause
#include "svg.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tutti/error.hpp>

namespace tutti::svg {
namespace {

/// At most two decimals, none where they are zero, and never "-0".
std::string number(double value) {
  if (!std::isfinite(value)) throw Error(ErrorCode::invalid_argument, "svg: a coordinate is not a finite number");
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string paint(const Style& style) {
  std::string text = fmt::format(" fill=\"{}\"", escape(style.fill));
  if (style.stroke != "none") {
    text += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", escape(style.stroke), number(style.width));
    if (!style.dash.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", escape(style.dash));
  }
  return text;
}

std::string point_list(std::span<const Point> points) {
  std::string text;
  for (const Point& point : points)
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(point.x), number(point.y));
  return text;
}

std::string_view anchor_name(Anchor anchor) {
  switch (anchor) {
    case Anchor::middle:
      return "middle";
    case Anchor::end:
      return "end";
    default:
      return "start";
  }
}

std::size_t code_points(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++count;
  return count;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20U && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

double text_width(std::string_view text, const TextStyle& style) {
  const double share = style.bold ? 0.59 : 0.55;
  return static_cast<double>(code_points(text)) * style.size * share;
}

Document::Document(double width, double height, std::string_view title)
    : width_(width), height_(height), title_(title) {
  rect({0, 0}, width, height, {.fill = "#ffffff"});
}

void Document::shape(std::string_view element, const std::string& attributes, const Style& style) {
  body_ += fmt::format("<{}{}{}", element, attributes, paint(style));
  body_ += style.tooltip.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escape(style.tooltip), element);
}

Document& Document::rect(Point corner, double width, double height, const Style& style) {
  shape("rect",
        fmt::format(" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(corner.x), number(corner.y), number(width),
                    number(height)),
        style);
  return *this;
}

Document& Document::circle(Point centre, double radius, const Style& style) {
  shape("circle", fmt::format(" cx=\"{}\" cy=\"{}\" r=\"{}\"", number(centre.x), number(centre.y), number(radius)),
        style);
  return *this;
}

Document& Document::line(Point from, Point to, const Style& style) {
  shape("line",
        fmt::format(" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", number(from.x), number(from.y), number(to.x),
                    number(to.y)),
        style);
  return *this;
}

Document& Document::polyline(std::span<const Point> points, const Style& style) {
  shape("polyline", fmt::format(" points=\"{}\"", point_list(points)), style);
  return *this;
}

Document& Document::text(Point at, std::string_view words, const TextStyle& style) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", number(at.x), number(at.y),
                       number(style.size), escape(style.fill));
  if (style.anchor != Anchor::start) body_ += fmt::format(" text-anchor=\"{}\"", anchor_name(style.anchor));
  if (style.bold) body_ += " font-weight=\"bold\"";
  if (style.rotate != 0)
    body_ += fmt::format(" transform=\"rotate({} {} {})\"", number(style.rotate), number(at.x), number(at.y));
  body_ += fmt::format(" xml:space=\"preserve\">{}</text>\n", escape(words));
  return *this;
}

Document& Document::begin_group(std::string_view name, Point shift) {
  body_ += "<g";
  if (!name.empty()) body_ += fmt::format(" class=\"{}\"", escape(name));
  if (shift.x != 0 || shift.y != 0)
    body_ += fmt::format(" transform=\"translate({} {})\"", number(shift.x), number(shift.y));
  body_ += ">\n";
  ++open_groups_;
  return *this;
}

Document& Document::end_group() {
  if (open_groups_ == 0) throw Error(ErrorCode::invalid_argument, "svg: end_group without begin_group");
  body_ += "</g>\n";
  --open_groups_;
  return *this;
}

std::string Document::str() const {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
      "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\">\n<title>{2}</title>\n",
      number(width_), number(height_), escape(title_));
  out += body_;
  for (int i = 0; i < open_groups_; ++i) out += "</g>\n";
  return out + "</svg>\n";
}

}  // namespace tutti::svg
