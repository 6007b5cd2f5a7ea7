// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/place.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "core/run_program.hpp"
#include "diagnosis/site.hpp"

namespace tutti::detail {
namespace {

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

/// "heat::step()" of "heat::(anonymous namespace)::step(int, Grid const&)", "step()" of "step".
std::string with_parentheses(std::string function) {
  constexpr std::string_view nameless = "(anonymous namespace)::";
  for (std::size_t at = 0; (at = function.find(nameless)) != std::string::npos;) function.erase(at, nameless.size());
  int depth = 0;  // of template arguments, which may have parentheses
  for (std::size_t at = 0; at < function.size(); ++at) {
    if (function[at] == '<') ++depth;
    if (function[at] == '>') --depth;
    const bool is_operator = at >= 8 && std::string_view(function).substr(at - 8, 8) == "operator";
    if (function[at] == '(' && depth == 0 && !is_operator) return function.substr(0, at) + "()";
  }
  return function.ends_with("operator()") ? function : function + "()";
}

std::string_view without_folders(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string words_of_address(const SiteRecord& site) {
  const char* module = site.place.data();
  const auto count = static_cast<std::size_t>(site.frame_count);
  std::vector<std::string> words{"addr2line", "-f", "-C", "-i", "-e", module};
  for (std::size_t i = 0; i < count; ++i) words.push_back(fmt::format("{:#x}", site.offsets[i]));
  const std::vector<SourcePlace> places =
      parse_places(run_program({.words = std::move(words), .is_bare = true}).output);
  const SourcePlace* place = first_of_program(places);
  if (place != nullptr && !place->file.empty())
    return fmt::format("at {}:{} in {}", without_folders(place->file), place->line, with_parentheses(place->function));
  std::string function = place != nullptr ? place->function : "";
  if (function.empty() && site.function[0] != '\0') function = demangled(site.function.data());
  const std::string address = fmt::format("at {}+{:#x}", without_folders(module), site.offsets[0]);
  return function.empty() ? address : fmt::format("{} in {}", address, with_parentheses(function));
}

}  // namespace

std::vector<SourcePlace> parse_places(std::string_view output) {
  std::vector<std::string_view> lines;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    lines.push_back(output.substr(0, end));
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  std::vector<SourcePlace> places;
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
    if (lines[i] == "??") continue;
    SourcePlace place{std::string(lines[i]), {}, 0};
    const std::size_t colon = lines[i + 1].rfind(':');
    if (colon != std::string_view::npos) {
      const std::string_view number = lines[i + 1].substr(colon + 1);  // "41", "?", "41 (discriminator 3)"
      std::from_chars(number.data(), number.data() + number.size(), place.line);
    }
    if (place.line > 0) place.file = lines[i + 1].substr(0, colon);
    places.push_back(std::move(place));
  }
  return places;
}

bool is_of_library(std::string_view function) {
  // A template's name begins with its result: "void tutti::f<int>(…)".
  const std::string_view name = function.substr(0, function.find('('));
  const std::size_t begin = name.find("tutti::");
  const bool is_member = begin == 0 || (begin != std::string_view::npos && name[begin - 1] == ' ');
  if (is_member && !name.substr(begin).starts_with("tutti::test")) return true;
  // guard is the wall of the C interface, where it is not inlined.
  return name.starts_with("tutti_") || name.starts_with("guard<tutti_") || name.starts_with("__tutti_MOD_") ||
         name.starts_with("_Unwind_");
}

const SourcePlace* first_of_program(const std::vector<SourcePlace>& places) {
  const SourcePlace* found = places.empty() ? nullptr : &places.back();
  bool caller_is_of_library = false;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    // A lambda's name lacks its namespace: it belongs to the function that calls it.
    if (!(caller_is_of_library && place->function == "operator()"))
      caller_is_of_library = is_of_library(place->function);
    if (!caller_is_of_library) found = &*place;
  }
  return found;
}

std::string words(const SiteRecord& site) {
  if (site.frame_count > 0 && site.place[0] != '\0') return words_of_address(site);
  if (site.place[0] == '\0') return {};
  const std::string place = fmt::format("at {}:{}", without_folders(site.place.data()), site.line);
  return site.function[0] == '\0' ? place : fmt::format("{} in {}", place, with_parentheses(site.function.data()));
}

}  // namespace tutti::detail
