// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Where the texts of a drawing stand: font size times letters, moved by the groups around them. For checks that no
/// text is over another one or outside the drawing, which need no browser.
namespace tutti::svg::testing {

struct PlacedText {
  std::string words;
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

/// The attribute of an element, empty if there is none.
inline std::string attribute(std::string_view tag, std::string_view name) {
  const std::string key = " " + std::string(name) + "=\"";
  const std::size_t begin = tag.find(key);
  if (begin == std::string_view::npos) return {};
  const std::size_t from = begin + key.size();
  return std::string(tag.substr(from, tag.find('"', from) - from));
}

inline double number(std::string_view tag, std::string_view name) { return std::atof(attribute(tag, name).c_str()); }

/// Letters as a reader sees them: an entity is one, and so is a character of several bytes.
inline std::size_t letters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') i = text.find(';', i);
    count += (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U ? 1U : 0U;
  }
  return count;
}

inline std::pair<double, double> shift_of(std::string_view tag) {
  const std::string transform = attribute(tag, "transform");
  std::pair<double, double> shift{0, 0};
  if (transform.starts_with("translate(")) {
    std::istringstream numbers(transform.substr(10));
    numbers >> shift.first >> shift.second;
  }
  return shift;
}

/// A text's box, of letters as wide as those of narrow sans-serif fonts.
inline PlacedText placed(std::string_view tag, std::string_view words, double dx, double dy) {
  const double size = number(tag, "font-size");
  const double letter = attribute(tag, "font-weight") == "bold" ? 0.56 : 0.5;
  const double width = static_cast<double>(letters(words)) * size * letter;
  const std::string anchor = attribute(tag, "text-anchor");
  const double x = number(tag, "x") + dx;
  const double y = number(tag, "y") + dy;
  const double before = anchor == "end" ? width : anchor == "middle" ? width / 2 : 0;
  const double above = 0.72 * size;
  PlacedText text{std::string(words), x - before, y - above, x - before + width, y + 0.15 * size};
  if (attribute(tag, "transform").starts_with("rotate(-90")) {
    text = {std::string(words), x - above, y - (width - before), x + 0.15 * size, y + before};
  }
  return text;
}

inline std::vector<PlacedText> texts_of(const std::string& document) {
  std::vector<PlacedText> texts;
  std::vector<std::pair<double, double>> shifts{{0, 0}};
  for (std::size_t at = document.find('<'); at != std::string::npos; at = document.find('<', at + 1)) {
    const std::string_view tag = std::string_view(document).substr(at, document.find('>', at) - at);
    if (tag.starts_with("<g ") || tag == "<g") {
      const auto [dx, dy] = shift_of(tag);
      shifts.emplace_back(shifts.back().first + dx, shifts.back().second + dy);
    } else if (tag == "</g") {
      shifts.pop_back();
    } else if (tag.starts_with("<text ")) {
      const std::size_t begin = at + tag.size() + 1;
      const std::string_view words = std::string_view(document).substr(begin, document.find('<', begin) - begin);
      texts.push_back(placed(tag, words, shifts.back().first, shifts.back().second));
    }
  }
  return texts;
}

/// What cannot be read: pairs of texts over one another, and texts that leave the drawing; empty where all is well.
inline std::string text_faults(const std::string& document) {
  const std::string_view root = std::string_view(document).substr(document.find("<svg "));
  const double width = number(root, "width");
  const double height = number(root, "height");
  const std::vector<PlacedText> texts = texts_of(document);
  std::string faults;
  if (texts.empty()) faults += "no text\n";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const PlacedText& a = texts[i];
    if (a.left < 0 || a.top < 0 || a.right > width || a.bottom > height)
      faults += "'" + a.words + "' leaves the drawing\n";
    for (std::size_t j = i + 1; j < texts.size(); ++j) {
      const PlacedText& b = texts[j];
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        faults += "'" + a.words + "' is over '" + b.words + "'\n";
    }
  }
  return faults;
}

}  // namespace tutti::svg::testing
