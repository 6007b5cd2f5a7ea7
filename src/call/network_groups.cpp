// SPDX-License-Identifier: BSD-3-Clause
#include "call/network_groups.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti::detail {
namespace {

std::size_t nodes_in(const NetworkLevels& groups) { return groups.empty() ? 0 : groups.front().size(); }

/// The messages of the groups of one level.
class Counter {
 public:
  explicit Counter(const std::vector<int>& groups) : groups_(groups) {}
  void count(std::size_t from, std::size_t to, bool is_in_one_larger) {
    const int target = groups_[to];
    Leaving& leaving = leaving_.try_emplace(groups_[from], Leaving{0, target, false}).first->second;
    ++leaving.messages;
    leaving.is_spread = leaving.is_spread || leaving.target != target;
    if (is_in_one_larger) ++between_[{groups_[from], target}];
  }
  [[nodiscard]] GroupLoad load() const {
    GroupLoad load;
    for (const auto& [group, leaving] : leaving_) load.leaving = std::max(load.leaving, leaving.messages);
    for (const auto& [groups, messages] : between_) load.between = std::max(load.between, messages);
    return load;
  }
  /// Of the groups whose messages go to several others.
  [[nodiscard]] std::vector<double> spread() const {
    std::vector<double> messages;
    for (const auto& [group, leaving] : leaving_)
      if (leaving.is_spread) messages.push_back(leaving.messages);
    return messages;
  }

 private:
  struct Leaving {
    double messages = 0;
    int target = 0;
    bool is_spread = false;
  };
  const std::vector<int>& groups_;
  std::map<int, Leaving> leaving_;
  std::map<std::pair<int, int>, double> between_;
};

Counter counted(const NetworkLevels& groups, std::size_t apart, std::span<const std::size_t> partners) {
  Counter counter(groups[groups.size() - apart]);
  for (std::size_t node = 0; node < partners.size(); ++node) {
    if (partners[node] >= partners.size()) continue;
    const std::size_t found = groups_apart(groups, node, partners[node]);
    if (found >= apart) counter.count(node, partners[node], found == apart);
  }
  return counter;
}

/// The latency between nodes so far apart; that of the next nearer ones that were measured, else of the next farther.
double latency_at(const Fabric& fabric, std::size_t apart) {
  for (std::size_t i = std::min(apart, Fabric::most_groups) + 1; i-- > 0;)
    if (fabric.by_group[i].latency > 0) return fabric.by_group[i].latency;
  return std::ranges::find_if(fabric.by_group, [](const Fabric::Group& one) { return one.latency > 0; })->latency;
}

/// The part of links with so many messages or more, if each takes one of them by chance, `mean` in the mean.
double part_with(int messages, double mean) {
  double less = 0;
  double term = std::exp(-mean);
  for (int i = 0; i < messages; ++i, term *= mean / i) less += term;
  return std::max(0.0, 1 - less);
}

/// The messages on the fullest links, where the network gives each message one of so many links by its target, and the
/// nodes of a group are no regular pattern: at least two links have as many.
double fullest(const std::vector<double>& messages, double links) {
  const auto links_with = [&](int count) {
    double expected = 0;
    for (const double one : messages) expected += links * part_with(count, one / links);
    return expected;
  };
  constexpr double several = 2;
  int count = 1;
  while (links_with(count + 1) >= several) ++count;
  return count;
}

/// How often as long messages take as they would alone, by the levels that were measured.
double slowdown(const Fabric& fabric, const NetworkLevels& groups, std::span<const std::size_t> partners, double rate) {
  double most = 1;
  for (std::size_t apart = 1; apart <= std::min(groups.size(), Fabric::most_groups); ++apart) {
    const Fabric::Group& figures = fabric.by_group[apart];
    if (figures.between == 0 && figures.leaving == 0) continue;
    const Counter counter = counted(groups, apart, partners);
    if (figures.between > 0) most = std::max(most, counter.load().between * rate / figures.between);
    if (figures.leaving == 0) continue;
    const double links = std::max(figures.leaving, figures.between) / rate;
    const std::vector<double> spread = counter.spread();
    for (const double messages : spread) most = std::max(most, messages / links);
    if (!spread.empty()) most = std::max(most, fullest(spread, links));
  }
  return most;
}

/// The same of messages to all nodes. What they lose by chance is in the measured rate.
double slowdown_everywhere(const Fabric& fabric, const NetworkLevels& groups, double rate) {
  double most = rate / fabric.everywhere;
  const std::vector<GroupLoad> loads = loads_everywhere(groups);
  for (std::size_t level = 0; level < std::min(loads.size(), Fabric::most_groups); ++level)
    if (const double leaving = fabric.by_group[level + 1].leaving; leaving > 0)
      most = std::max(most, loads[level].leaving * rate / std::max(leaving, fabric.by_group[level + 1].between));
  return most;
}

}  // namespace

std::size_t groups_apart(const NetworkLevels& groups, std::size_t a, std::size_t b) {
  const auto differs = [a, b](const std::vector<int>& level) { return level[a] != level[b]; };
  return static_cast<std::size_t>(groups.end() - std::ranges::find_if(groups, differs));
}

std::vector<GroupLoad> loads_of(const NetworkLevels& groups, std::span<const std::size_t> partners) {
  std::vector<GroupLoad> loads;
  for (std::size_t apart = 1; apart <= groups.size(); ++apart) loads.push_back(counted(groups, apart, partners).load());
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
      latency = std::max(latency, latency_at(measured, apart));
    }
    fabric.at[digit] = {latency, rate / slowdown(measured, groups, partners, rate)};
  }
  fabric.everywhere = rate / slowdown_everywhere(measured, groups, rate);
  return fabric;
}

}  // namespace tutti::detail
