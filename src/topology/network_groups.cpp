// SPDX-License-Identifier: BSD-3-Clause
#include "topology/network_groups.hpp"

#include <algorithm>
#include <map>

#include "core/hash.hpp"

namespace tutti::detail {
namespace {

NetworkMarks::Marks marks_of(const std::vector<std::string>& groups) {
  NetworkMarks::Marks marks{};
  const std::size_t dropped = groups.size() - std::min(groups.size(), marks.size());
  Hash hash;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    hash.add(groups[i]);
    if (i >= dropped) marks[i - dropped] = std::max<std::uint64_t>(1, hash.value());
  }
  return marks;
}

std::size_t depth_of(const NetworkMarks::Marks& marks) {
  return static_cast<std::size_t>(std::ranges::find(marks, 0U) - marks.begin());
}

/// The values as 0, 1, 2, ... in the order in which they come.
template <typename Value>
std::vector<int> counted(const std::vector<Value>& values) {
  std::map<Value, int> known;
  std::vector<int> numbers;
  for (const Value& value : values)
    numbers.push_back(known.try_emplace(value, static_cast<int>(known.size())).first->second);
  return numbers;
}

}  // namespace

NetworkMarks marks_of(const NetworkPaths& paths) {
  NetworkMarks marks;
  for (std::size_t source = 0; source < network_sources; ++source)
    marks.by_source[source] = marks_of(paths[source].groups);
  return marks;
}

NetworkGroups network_groups(std::span<const NetworkMarks> nodes) {
  NetworkGroups found;
  for (std::size_t source = 0; source < network_sources && !nodes.empty(); ++source) {
    std::size_t depth = NetworkMarks::most_levels;
    for (const NetworkMarks& node : nodes) depth = std::min(depth, depth_of(node.by_source[source]));
    if (depth == 0) continue;
    found.source = static_cast<NetworkSource>(source);
    for (std::size_t level = 0; level < depth; ++level) {
      std::vector<std::uint64_t> marks;
      for (const NetworkMarks& node : nodes) marks.push_back(node.by_source[source][level]);
      found.levels.push_back(counted(marks));
    }
    break;
  }
  return found;
}

std::vector<std::vector<int>> groups_of_part(const std::vector<std::vector<int>>& whole, std::span<const int> nodes) {
  std::vector<std::vector<int>> part;
  for (const std::vector<int>& level : whole) {
    std::vector<int> groups;
    for (const int node : nodes) groups.push_back(level[static_cast<std::size_t>(node)]);
    part.push_back(counted(groups));
  }
  return part;
}

}  // namespace tutti::detail
