// SPDX-License-Identifier: BSD-3-Clause
#include "tools/network_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "topology/columns.hpp"

namespace tutti::detail {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NetworkPath, groups, problem)
}  // namespace tutti::detail

namespace tutti::tools {
namespace {

using detail::network_source_names;
using detail::NetworkPath;
using nlohmann::json;

/// Names may hold bytes that are not UTF-8.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

/// The place of the source that counts; network_sources: none does.
std::size_t source_of(const NetworkView& view) {
  return static_cast<std::size_t>(std::ranges::find(network_source_names, view.source) - network_source_names.begin());
}

/// "0-3, 7".
std::string ranges_text(const std::vector<std::size_t>& numbers) {
  std::vector<std::string> runs;
  for (std::size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
    while (end < numbers.size() && numbers[end] - numbers[begin] == end - begin) ++end;
    runs.push_back(end - begin == 1 ? fmt::format("{}", numbers[begin])
                                    : fmt::format("{}-{}", numbers[begin], numbers[end - 1]));
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

/// The first node for which a condition on its path holds; the number of nodes if there is none.
template <typename Condition>
std::size_t first_where(const NetworkView& view, std::size_t source, const Condition& holds) {
  const auto found = std::ranges::find_if(view.paths, [&](const auto& paths) { return holds(paths[source]); });
  return static_cast<std::size_t>(found - view.paths.begin());
}

/// The groups in the order of their first nodes, with these.
std::vector<std::pair<std::string, std::vector<std::size_t>>> smallest_groups(const NetworkView& view) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> groups;
  for (std::size_t node = 0; node < view.paths.size(); ++node) {
    const std::string name = fmt::format("{}", fmt::join(view.paths[node][source_of(view)].groups, " / "));
    auto known = std::ranges::find(groups, name, &std::pair<std::string, std::vector<std::size_t>>::first);
    if (known == groups.end()) known = groups.insert(groups.end(), {name, {}});
    known->second.push_back(node);
  }
  return groups;
}

}  // namespace

std::string paths_to_json(const detail::NetworkPaths& paths) { return dump(json(paths)); }

detail::NetworkPaths paths_from_json(const std::string& text) {
  return text.empty() ? detail::NetworkPaths{} : json::parse(text).get<detail::NetworkPaths>();
}

std::vector<std::string> network_problems(const NetworkView& view) {
  std::vector<std::string> lines;
  for (std::size_t source = 0; source < detail::network_sources; ++source) {
    const auto has_problem = [](const NetworkPath& path) { return !path.problem.empty(); };
    const auto is_silent = [](const NetworkPath& path) { return path.groups.empty(); };
    const auto name = network_source_names[source];
    if (const std::size_t node = first_where(view, source, has_problem); node < view.paths.size()) {
      lines.push_back(fmt::format("{} of {}: {}", name, view.hosts[node], view.paths[node][source].problem));
      continue;
    }
    const auto silent = std::ranges::count_if(view.paths, [&](const auto& paths) { return is_silent(paths[source]); });
    const auto nodes = static_cast<std::ptrdiff_t>(view.paths.size());
    if (silent > 0 && silent < nodes)
      lines.push_back(fmt::format("{}: {} of {} nodes have it, and not {}", name, nodes - silent, nodes,
                                  view.hosts[first_where(view, source, is_silent)]));
  }
  return lines;
}

std::string network_text(const NetworkView& view) {
  const std::vector<std::string> problems = network_problems(view);
  if (view.source.empty() && problems.empty() && view.paths.size() < 2) return "";
  std::string text = view.source.empty() ? "Network: no groups of nodes are known\n"
                                         : fmt::format("Network: groups of nodes by {}\n", view.source);
  detail::TextRows rows = {{"  groups", "nodes"}};
  if (!view.source.empty())
    for (const auto& [name, nodes] : smallest_groups(view)) rows.push_back({"  " + name, ranges_text(nodes)});
  if (rows.size() > 1) text += detail::in_columns(rows);
  for (const std::string& problem : problems) text += "  left out: " + problem + "\n";
  return text;
}

std::string network_json(const NetworkView& view) {
  json nodes = json::array();
  for (const detail::NetworkPaths& paths : view.paths)
    nodes.push_back(view.source.empty() ? std::vector<std::string>{} : paths[source_of(view)].groups);
  return dump({{"source", view.source}, {"nodes", std::move(nodes)}, {"problems", network_problems(view)}});
}

}  // namespace tutti::tools
