// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/site_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <system_error>

#include "diagnosis/fixed_text.hpp"
#include "diagnosis/format.hpp"

namespace tutti::detail {
namespace {

constexpr std::size_t longest = flight::TextRow{}.text.size() - 1;

/// The end of a path tells more than its begin.
std::string_view end_of(std::string_view text, std::size_t most) {
  return text.substr(text.size() - std::min(text.size(), most));
}

/// The part before a bar, which goes from the text.
std::string_view take(std::string_view& text) {
  const std::size_t bar = std::min(text.find('|'), text.size());
  const std::string_view part = text.substr(0, bar);
  text.remove_prefix(std::min(bar + 1, text.size()));
  return part;
}

template <typename T>
T number(std::string_view text, int base) {
  T value{};
  (void)std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

}  // namespace

// "line|offset,offset|function|path"
std::string text_of(const SiteRecord& site) {
  std::string text = fmt::format("{}|", site.line);
  const auto frames = static_cast<std::size_t>(site.frame_count);
  for (std::size_t i = 0; i < frames; ++i) text += fmt::format("{}{:x}", i == 0 ? "" : ",", site.offsets[i]);
  text += fmt::format("|{:.24}|", site.function.data());
  return text + std::string(end_of(site.place.data(), longest - std::min(longest, text.size())));
}

std::string words_of(std::string_view text) {
  SiteRecord site;
  site.line = number<std::int32_t>(take(text), 10);
  std::string_view offsets = take(text);
  while (!offsets.empty() && static_cast<std::size_t>(site.frame_count) < CallSite::most_frames) {
    const std::size_t comma = std::min(offsets.find(','), offsets.size());
    site.offsets[static_cast<std::size_t>(site.frame_count++)] = number<std::uint64_t>(offsets.substr(0, comma), 16);
    offsets.remove_prefix(std::min(comma + 1, offsets.size()));
  }
  keep_end(take(text), site.function);
  keep_end(text, site.place);
  return words(site);
}

void flight::find_places(Job& job) {
  std::map<std::string, std::string> known;
  for (Snapshot& one : job)
    for (SeenCall& call : one.calls) {
      if (call.site.empty()) continue;
      if (call.end == 0 && !known.contains(call.site)) known[call.site] = words_of(call.site);
      call.site = call.end == 0 ? known[call.site] : "";
    }
}

}  // namespace tutti::detail
