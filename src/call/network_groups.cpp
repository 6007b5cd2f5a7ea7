// SPDX-License-Identifier: BSD-3-Clause
#include "call/network_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti::detail {
namespace {

std::size_t nodes_in(const NetworkLevels& groups) { return groups.empty() ? 0 : groups.front().size(); }

/// What has the most of a kind.
template <typename Counts>
double most_of(const Counts& counts) {
  double most = 0;
  for (const auto& [key, count] : counts) most = std::max(most, count);
  return most;
}

/// Of the groups of one level.
class Counter {
 public:
  explicit Counter(const std::vector<int>& groups) : groups_(groups) {}
  void count(std::size_t from, std::size_t to, bool is_in_one_larger) {
    ++leaving_[groups_[from]];
    if (is_in_one_larger) ++between_[{groups_[from], groups_[to]}];
  }
  [[nodiscard]] GroupLoad load() const { return {most_of(leaving_), most_of(between_)}; }

 private:
  const std::vector<int>& groups_;
  std::map<int, double> leaving_;
  std::map<std::pair<int, int>, double> between_;
};

/// The figures by group, those that were not measured as the next nearer ones that were, else as the next farther.
Fabric::Group figures_at(const Fabric& fabric, std::size_t apart) {
  for (std::size_t i = apart + 1; i-- > 0;)
    if (fabric.by_group[i].latency > 0) return fabric.by_group[i];
  return *std::ranges::find_if(fabric.by_group, [](const Fabric::Group& one) { return one.latency > 0; });
}

/// How often as long messages take as they would alone.
double slowdown(const Fabric& fabric, const std::vector<GroupLoad>& loads, double rate) {
  double most = 1;
  for (std::size_t level = 0; level < loads.size(); ++level) {
    const Fabric::Group figures = figures_at(fabric, std::min(level + 1, Fabric::most_groups));
    if (figures.leaving > 0) most = std::max(most, loads[level].leaving * rate / figures.leaving);
    if (figures.between > 0) most = std::max(most, loads[level].between * rate / figures.between);
  }
  return most;
}

}  // namespace

std::size_t groups_apart(const NetworkLevels& groups, std::size_t a, std::size_t b) {
  const auto differs = [a, b](const std::vector<int>& level) { return level[a] != level[b]; };
  return static_cast<std::size_t>(groups.end() - std::ranges::find_if(groups, differs));
}

std::vector<GroupLoad> loads_of(const NetworkLevels& groups, std::span<const std::size_t> partners) {
  std::vector<GroupLoad> loads;
  for (std::size_t level = groups.size(); level-- > 0;) {
    const std::size_t apart = groups.size() - level;
    Counter counter(groups[level]);
    for (std::size_t node = 0; node < partners.size(); ++node) {
      if (partners[node] >= partners.size()) continue;
      const std::size_t found = groups_apart(groups, node, partners[node]);
      if (found >= apart) counter.count(node, partners[node], found == apart);
    }
    loads.push_back(counter.load());
  }
  return loads;
}

std::vector<GroupLoad> loads_everywhere(const NetworkLevels& groups) {
  const auto nodes = static_cast<double>(nodes_in(groups));
  std::vector<GroupLoad> loads;
  for (auto level = groups.rbegin(); level != groups.rend(); ++level) {
    std::map<int, double> sizes;
    for (const int group : *level) ++sizes[group];
    GroupLoad load;
    for (const auto& [group, size] : sizes)
      load.leaving = std::max(load.leaving, size * (nodes - size) / std::max(1.0, nodes - 1));
    loads.push_back(load);
  }
  return loads;
}

Fabric in_order(const Fabric& measured, const NetworkLevels& groups) {
  if (groups.empty() || !is_measured_by_group(measured)) return measured;
  const std::size_t nodes = nodes_in(groups);
  const double rate = best_rate(measured);
  Fabric fabric = measured;
  fabric.at = {};
  fabric.within_group = rate;
  std::vector<std::size_t> partners(nodes);
  for (std::size_t digit = 0; digit < fabric.at.size() && std::size_t{1} << digit < nodes; ++digit) {
    double latency = 0;
    for (std::size_t node = 0; node < nodes; ++node) {
      partners[node] = node ^ (std::size_t{1} << digit);
      if (partners[node] >= nodes) continue;
      const std::size_t apart = groups_apart(groups, node, partners[node]);
      latency = std::max(latency, figures_at(measured, std::min(apart, Fabric::most_groups)).latency);
    }
    fabric.at[digit] = {latency, rate / slowdown(measured, loads_of(groups, partners), rate)};
  }
  fabric.everywhere = rate / slowdown(measured, loads_everywhere(groups), rate);
  return fabric;
}

}  // namespace tutti::detail
