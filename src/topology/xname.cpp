// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "topology/network_source.hpp"

namespace tutti::detail {
namespace {

constexpr std::string_view decimals = "0123456789";

/// Passes over the mark and the number behind it; false if they do not stand there.
bool pass(std::string_view name, std::size_t& at, char mark) {
  if (at >= name.size() || name[at] != mark) return false;
  const std::size_t end = std::min(name.find_first_not_of(decimals, at + 1), name.size());
  const bool has_number = end > at + 1;
  if (has_number) at = end;
  return has_number;
}

/// The beginnings of a name of marked numbers, each up to one of the marks in `ends`; nothing if the name has others.
std::vector<std::string> beginnings(std::string_view name, std::string_view marks, std::string_view ends) {
  std::vector<std::string> found;
  std::size_t at = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (!pass(name, at, marks[i])) return {};
    if (ends[i] != ' ') found.emplace_back(name.substr(0, at));
  }
  return at == name.size() ? found : std::vector<std::string>{};
}

}  // namespace

NetworkPath path_of_xname(std::string_view name) {
  if (auto groups = beginnings(name, "xcsbn", "xc   "); !groups.empty()) return {std::move(groups), {}};
  return {beginnings(name, "c-csn", " -cs "), {}};
}

}  // namespace tutti::detail
