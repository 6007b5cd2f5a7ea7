// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "topology/network_source.hpp"

namespace tutti::detail {
namespace {

/// The parts between separators, at most so many: the last one has the rest.
std::vector<std::string_view> parts_of(std::string_view text, char separator, std::size_t most) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < most && text.find(separator) != std::string_view::npos) {
    parts.push_back(text.substr(0, text.find(separator)));
    text.remove_prefix(parts.back().size() + 1);
  }
  parts.push_back(text);
  return parts;
}

/// A torus and its planes and lines: "grid", "grid:3", "grid:3:0". With the last coordinate it is the node.
void add_coordinates(NetworkPath& path, std::string_view torus) {
  for (std::size_t end = torus.find(':'); end != std::string_view::npos; end = torus.find(':', end + 1))
    path.groups.emplace_back(torus.substr(0, end));
}

}  // namespace

NetworkPath path_of_address(std::string_view address, std::string_view pattern) {
  if (address.empty() && pattern.empty()) return {};
  const auto count = static_cast<std::size_t>(1 + std::ranges::count(pattern, '.'));
  const auto kinds = parts_of(pattern, '.', count);
  const auto names = parts_of(address, '.', count);  // a node's name may have dots
  const auto refused = [&] {
    return NetworkPath{{}, fmt::format("the address '{}' does not fit the pattern '{}'", address, pattern)};
  };
  if (kinds.back() != "node" || names.size() != count || names.back().empty()) return refused();
  NetworkPath path;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const bool is_torus = kinds[i].starts_with("torus:");
    if (is_torus && std::ranges::count(kinds[i], ':') != std::ranges::count(names[i], ':')) return refused();
    if (is_torus)
      add_coordinates(path, names[i]);
    else
      path.groups.emplace_back(names[i]);  // no name: no switch reaches all nodes
  }
  return path;
}

}  // namespace tutti::detail
