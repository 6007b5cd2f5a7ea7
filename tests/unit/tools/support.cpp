// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <regex>
#include <vector>

namespace tutti::tools::testing {
namespace {

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

}  // namespace

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

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace tutti::tools::testing
