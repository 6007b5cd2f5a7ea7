// SPDX-License-Identifier: BSD-3-Clause
#include "call/cost_model.hpp"

#include <algorithm>
#include <string_view>

namespace tutti::detail {
namespace {

using schedules::Algorithm;
using schedules::Cost;

/// Returns true if each rank sends only to the rank beside it.
bool goes_along_neighbours(const Algorithm& algorithm) {
  const std::string_view name = algorithm.name;
  const bool is_scan = algorithm.operation == Operation::scan || algorithm.operation == Operation::exscan;
  return name == "ring" || name == "chain" || name == "neighbor_exchange" || (is_scan && name == "linear");
}

/// The number of ranks of one node that send to other nodes at the same time. The cost of the root covers the root's
/// work.
double flat_senders(const Algorithm& algorithm, const schedules::Spread& spread) {
  if (has_root(algorithm.operation)) return 1;
  if (spread.adjacent && goes_along_neighbours(algorithm)) return 1;
  return spread.most;
}

}  // namespace

Links links_of(const Costs& costs) {
  // The calibration measures the farthest distance on a node at hand, so all distances on a node are priced alike. The
  // network has vendors' figures for 100 Gb/s.
  const Link on_node{.latency = costs.message,
                     .overhead = costs.message_gap,
                     .rate = 1 / costs.message_byte,
                     .shared_rate = 16 / costs.message_byte,
                     .combining_rate = 1 / costs.combine,
                     .copying_rate = 1 / costs.far_copy};
  const Link network{.latency = 2.2e-6,
                     .overhead = 0.8e-6,
                     .rate = 8e9,
                     .shared_rate = 11e9,
                     .combining_rate = on_node.combining_rate,
                     .copying_rate = on_node.copying_rate};
  return {{{on_node, on_node, on_node, network}}, 4 * costs.turn};
}

double bytes_of_call(const Signature& signature, int size) {
  const double bytes = static_cast<double>(signature.count) * static_cast<double>(signature.type.size());
  return schedules::has_equal_blocks(signature.operation) ? bytes * size : bytes;
}

double seconds(const Cost& cost, const Link& link, double senders, double switching) {
  const double moving = std::max(cost.bytes / link.rate, cost.bytes * senders / link.shared_rate);
  return cost.rounds * (link.latency + switching) + cost.messages * link.overhead + moving +
         cost.reduced_bytes / link.combining_rate + cost.copied_bytes / link.copying_rate;
}

double seconds_of_levels(const Cost& on_node, const schedules::LevelCost& cost, const Wiring& wiring,
                         const Links& links) {
  const double switching = wiring.oversubscribed ? links.switching : 0;
  return seconds(on_node, links[wiring.on_node], 1, switching) +
         seconds(cost.across, links[LinkLevel::network], cost.senders, switching);
}

std::size_t joined_bytes(const Links& links) {
  const Link& network = links[LinkLevel::network];
  return static_cast<std::size_t>(network.overhead * network.copying_rate / 2);
}

double predict(const Algorithm& algorithm, const Signature& signature, const Wiring& wiring, const Links& links) {
  const double bytes = bytes_of_call(signature, wiring.spread.size);
  const double switching = wiring.oversubscribed ? links.switching : 0;
  if (algorithm.hierarchical) {
    const schedules::LevelCost cost = algorithm.level_cost(wiring.spread, bytes);
    return seconds_of_levels(cost.on_node, cost, wiring, links);
  }
  const Cost cost = algorithm.cost(wiring.spread.size, bytes);
  if (!wiring.several_nodes) return seconds(cost, links[wiring.on_node], 1, switching);
  return seconds(cost, links[LinkLevel::network], flat_senders(algorithm, wiring.spread), switching);
}

std::vector<int> nodes_of(const Topology& topology) {
  std::vector<int> nodes;
  for (const Place& place : topology.places) nodes.push_back(place.node);
  return nodes;
}

LinkLevel level_on_node(const Topology& topology) {
  std::vector<const Place*> firsts(static_cast<std::size_t>(topology.nodes), nullptr);
  LinkLevel level = LinkLevel::cache;
  for (const Place& place : topology.places) {
    const Place*& first = firsts[static_cast<std::size_t>(place.node)];
    if (first == nullptr) first = &place;
    const bool shares_cache = place.l3 >= 0 && place.l3 == first->l3;
    const bool shares_memory = place.numa >= 0 && place.numa == first->numa;
    const LinkLevel apart = shares_cache ? LinkLevel::cache : shares_memory ? LinkLevel::numa : LinkLevel::node;
    if (first != &place) level = std::max(level, apart);
  }
  return level;
}

}  // namespace tutti::detail
