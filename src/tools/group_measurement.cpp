// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "tools/link_measurement.hpp"
#include "tools/link_meter.hpp"

namespace tutti::tools {
namespace {

using detail::GroupLoad;

/// Slower messages than this part of the best rate are slowed by what their groups share.
constexpr double as_fast = 0.9;

/// The rate of what is shared, of the node rate while messages of so many nodes are on it; 0: it slows nothing.
double shared_rate(double rate, double best, double nodes) { return rate < as_fast * best ? rate * nodes : 0; }

/// What the groups carry while these pairs of nodes, of as many ranks each, exchange.
std::vector<GroupLoad> loads_of(const Pairs& pairs, std::span<const Place> places, std::size_t nodes,
                                const detail::NetworkLevels& groups) {
  std::vector<std::size_t> partners(nodes, nodes);
  for (const auto& [a, b] : pairs) {
    const auto first = static_cast<std::size_t>(places[static_cast<std::size_t>(a)].node);
    const auto second = static_cast<std::size_t>(places[static_cast<std::size_t>(b)].node);
    partners[first] = second;
    partners[second] = first;
  }
  return detail::loads_of(groups, partners);
}

}  // namespace

Pairs pairs_between_groups(std::size_t apart, const detail::NetworkLevels& groups, const NodeRanks& nodes) {
  const std::size_t ranks = std::ranges::min_element(nodes, {}, &std::vector<int>::size)->size();
  std::vector<bool> is_taken(nodes.size(), false);
  Pairs pairs;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (is_taken[a]) continue;
    std::size_t b = a + 1;
    while (b < nodes.size() && (is_taken[b] || detail::groups_apart(groups, a, b) != apart)) ++b;
    if (b == nodes.size()) continue;
    is_taken[b] = true;
    for (std::size_t place = 0; place < ranks; ++place) pairs.emplace_back(nodes[a][place], nodes[b][place]);
  }
  return pairs;
}

void measure_groups(MPI_Comm comm, std::span<const Place> places, const detail::NetworkLevels& groups,
                    detail::Fabric& fabric, const LinkEffort& effort) {
  if (groups.empty() || distances_of(fabric) == 0) return;
  const NodeRanks nodes = ranks_by_node(places);
  Meter meter(comm);
  const double best = best_rate(fabric);
  const std::vector<GroupLoad> everywhere = detail::loads_everywhere(groups);
  for (std::size_t apart = 0; apart <= std::min(groups.size(), detail::Fabric::most_groups); ++apart) {
    const Pairs pairs = pairs_between_groups(apart, groups, nodes);
    if (pairs.empty()) continue;
    const detail::Fabric::Distance found = measure_pairs(meter, pairs, nodes, effort);
    detail::Fabric::Group& figures = fabric.by_group[apart];
    figures.latency = found.latency;
    if (apart == 0) {
      fabric.within_group = found.rate;
      continue;
    }
    const GroupLoad load = loads_of(pairs, places, nodes.size(), groups)[apart - 1];
    figures.between = shared_rate(found.rate, best, load.between);
    figures.leaving = shared_rate(fabric.everywhere, best, everywhere[apart - 1].leaving);
  }
}

}  // namespace tutti::tools
