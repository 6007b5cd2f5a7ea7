// SPDX-License-Identifier: BSD-3-Clause
#include "call/cost_model.hpp"

#include <algorithm>
#include <cmath>

#include "call/message_lengths.hpp"
#include "schedules/phase_choice.hpp"

namespace tutti::detail {
namespace {

using schedules::Algorithm;
using schedules::at_once;
using schedules::Cost;
using schedules::Distances;
using schedules::hidden_part;
using schedules::Reach;
using schedules::together;

Cost part_of(const Cost& cost, double rounds, double bytes) {
  return {.rounds = rounds * cost.rounds,
          .bytes = bytes * cost.bytes,
          .reduced_bytes = bytes * cost.reduced_bytes,
          .copied_bytes = bytes * cost.copied_bytes,
          .messages = rounds * cost.messages};
}

/// A flat algorithm's rounds and bytes on a node and between nodes. `at_once`: bytes move at both levels in the same
/// rounds.
struct Levels {
  Cost on_node{};
  Cost across{};
  bool at_once = true;
};

/// Whether every second round stays on the nodes, and both ends of a node reach others in the rest.
bool idles_between_nodes(const Algorithm& algorithm, const schedules::Spread& spread) {
  return algorithm.reach == Reach::alternating && spread.adjacent && spread.most % 2 == 0;
}

/// The part of the rounds in which messages stay on the nodes.
double part_of_near_rounds(const Algorithm& algorithm, const Cost& cost, const schedules::Spread& spread) {
  if (cost.rounds == 0) return 0;
  // A tree of a high radix may have a part of a round on a node, but needs a whole one to leave it.
  const double bits = std::log2(spread.most);
  double rounds = cost.rounds * bits / std::log2(spread.size);
  // One of blocks, whose far ones come last, waits for them in that round.
  constexpr double rounding = 1e-9;
  if (algorithm.reach == Reach::growing) rounds = std::floor(bits / std::log2(1 + at_once(cost)) + rounding);
  return std::min(rounds, cost.rounds - 1) / cost.rounds;
}

/// How much the bytes of a round change from one of Bine's distances to the next.
double growth_of(Reach reach) { return reach == Reach::growing ? 2 : reach == Reach::shrinking ? 0.5 : 1; }

/// The part of the bytes that Bine's partners do not exchange on their nodes.
double part_of_far_bytes(const Algorithm& algorithm, const schedules::Spread& spread) {
  double far = 0;
  double all = 0;
  double weight = 1;
  for (int step = 0; step < schedules::ceil_log2(spread.size); ++step, weight *= growth_of(algorithm.reach)) {
    far += weight * std::min(1.0, static_cast<double>(schedules::bine_distance(step)) / spread.most);
    all += weight;
  }
  return all > 0 ? far / all : 0;
}

Levels levels_of(const Algorithm& algorithm, const Cost& cost, const schedules::Spread& spread) {
  const double n = spread.size;
  const double k = spread.most;
  if (!spread.adjacent || spread.most == 1) return {{}, cost};
  const auto divided = [&cost](double rounds, double bytes) {
    return Levels{part_of(cost, rounds, bytes), part_of(cost, 1 - rounds, 1 - bytes), rounds == 0};
  };
  // In each round some leave their node, and their partners of the next one wait for them.
  if (algorithm.distances == Distances::bine) return {part_of(cost, 0, 1), cost, false};
  const double near_rounds = part_of_near_rounds(algorithm, cost, spread);
  switch (algorithm.reach) {
    case Reach::doubling:
    case Reach::branching:
      return divided(near_rounds, near_rounds);
    case Reach::growing:
      return divided(near_rounds, (k - 1) / (n - 1));
    case Reach::shrinking:
      return divided(near_rounds, (1 - 1 / k) / (1 - 1 / n));
    case Reach::alternating:
      if (idles_between_nodes(algorithm, spread)) return {part_of(cost, 0.5, 0.5), part_of(cost, 0.5, 0.5), false};
      [[fallthrough]];
    case Reach::neighbours:  // one of k messages on the way of a block leaves a node, and each link passes all bytes on
      return {part_of(cost, 1 - 1 / k, 1), part_of(cost, 1 / k, 1)};
    case Reach::trees:
      return {part_of(cost, near_rounds, 1), part_of(cost, 1 - near_rounds, 1)};
    case Reach::all:
    case Reach::above:
    case Reach::star:
    case Reach::around:
    case Reach::growing_around:
    case Reach::shrinking_around:
      break;
  }
  return divided(0, (k - 1) / (n - 1));
}

/// The ranks of a node that send to other nodes at once.
double senders_across(const Algorithm& algorithm, const schedules::Spread& spread) {
  const double k = spread.most;
  if (spread.adjacent && algorithm.distances == Distances::bine)
    return std::max(1.0, k * part_of_far_bytes(algorithm, spread));
  if (idles_between_nodes(algorithm, spread)) return 2;
  if (spread.adjacent && (algorithm.reach == Reach::neighbours || algorithm.reach == Reach::alternating)) return 1;
  // About five messages of each tree leave or reach two nodes.
  if (spread.adjacent && algorithm.reach == Reach::trees) return std::min(k, 2.5);
  if (algorithm.reach == Reach::above) return (k + 1) / 2;
  if (!goes_both_ways(algorithm)) return 1;
  // Half of the bytes come from the root, or go there.
  const bool is_of_tree = algorithm.reach != Reach::shrinking && algorithm.reach != Reach::around;
  return has_root(algorithm.operation) && is_of_tree ? (k + 1) / 2 : k;
}

/// The last messages of the rounds.
double last_seconds(const Cost& cost, const Link& link) { return cost.bytes / at_once(cost) / link.rate; }

/// Beside what a rank passes on in its rounds: the bytes of all ranks of a node over what they share.
double moving_seconds(const Cost& cost, const Link& link, double senders, bool both_ways, double factor = 1) {
  const double own_rate = std::max(link.rate, std::min(at_once(cost) * link.rate, several_rate_of(link, both_ways)));
  return std::max(cost.bytes / own_rate, cost.bytes * senders * factor / link.shared_rate);
}

double starting_seconds(const Cost& cost, const Link& link, double switching, double factor = 1) {
  return cost.rounds * (link.latency * factor + switching);
}

/// The rounds beyond their starts.
double passing_seconds(const Cost& cost, const Link& link, const Crowd& crowd) {
  return together(further_seconds(cost, link, crowd.both_ways),
                  moving_seconds(cost, link, crowd.senders, crowd.both_ways, crowd.factors.bytes), crowd.hidden,
                  last_seconds(cost, link));
}

double local_seconds(const Cost& cost, const Link& link) {
  return cost.reduced_bytes / link.combining_rate + cost.copied_bytes / link.copying_rate;
}

/// Down or up a tree of ranks that share a link: the last level has most of the messages, and all of them at once.
double seconds_of_tree(const Cost& cost, const Link& link, double size, double bytes, double hidden, double switching) {
  const double last = 1 / cost.rounds;
  const double radix = 1 + cost.messages / cost.rounds;
  const double bytes_of_last = (size - 1) * bytes * (radix - 1) / radix;
  const double senders = std::max(1.0, bytes_of_last / (last * cost.bytes));
  const double moving = moving_seconds(part_of(cost, 1 - last, 1 - last), link, 1, false) +
                        moving_seconds(part_of(cost, last, last), link, senders, false);
  return starting_seconds(cost, link, switching) +
         together(further_seconds(cost, link, false), moving, hidden, last_seconds(cost, link)) +
         local_seconds(cost, link);
}

double seconds_on_one_node(const Algorithm& algorithm, const Cost& cost, const Link& link, double size, double bytes,
                           double switching) {
  if (goes_both_ways(algorithm)) return seconds(cost, link, {size, true}, switching);
  if (algorithm.reach == Reach::above) return seconds(cost, link, {size / 2, false}, switching);
  const bool passes_all_on = algorithm.operation == Operation::bcast || algorithm.operation == Operation::reduce;
  // The cost of a gather or a scatter is that of its root.
  if (!passes_all_on || cost.bytes == 0) return seconds(cost, link, {1, false, hidden_part(algorithm)}, switching);
  if (algorithm.reach == Reach::doubling)
    return seconds_of_tree(cost, link, size, bytes, hidden_part(algorithm), switching);
  return seconds(cost, link, {std::max(1.0, (size - 1) * bytes / cost.bytes), false}, switching);
}

/// Whether a rank exchanges with many others in one round.
bool is_crowded(Reach reach) { return reach == Reach::all || reach == Reach::above || reach == Reach::star; }

/// The link as the messages of an algorithm see it. Both ends save work on further ones of a round that are long. A
/// rank with many partners does not, since all of them ask it before they send.
Link link_for(const Algorithm& algorithm, const Cost& cost, Link link, double message) {
  const double passed = schedules::passing_part(algorithm);
  link.rate = 1 / ((1 - passed) / link.rate + passed / passing_rate_of(link));
  if (passed > 0) link.shared_rate = std::max(link.shared_rate, link.passing_rate);
  if (schedules::partners_at_once(algorithm, cost) == 1) link.several_rate = link.one_way_rate = link.rate;
  const double saved = is_crowded(algorithm.reach) ? 0 : std::max(0.0, -longer(algorithm, cost, link, message));
  link.overhead = std::max(0.0, link.overhead - saved / 2);
  return link;
}

/// A phase of so many chunks, one after the other.
double seconds_of_phase(const schedules::PhaseCost& phase, double chunks, const Link& link, double switching) {
  const Crowd crowd{phase.senders, phase.both_ways, phase.hidden, phase.factors};
  if (phase.flat == nullptr) return seconds(phase.cost, link, crowd, switching);
  const Cost chunk = part_of(phase.cost, 1 / chunks, 1 / chunks);
  return seconds(phase.cost, link_for(*phase.flat, chunk, link, message_bytes(*phase.flat, chunk)), crowd, switching) +
         chunks * protocol_seconds(*phase.flat, chunk, link);
}

double seconds_of_flat(const Algorithm& algorithm, const Signature& signature, const Wiring& wiring, const Links& links,
                       double switching) {
  const schedules::Spread& spread = wiring.spread;
  const double bytes = bytes_of_call(signature, spread.size);
  const Cost cost = cost_of(algorithm, spread.size, bytes, spread.starts.through);
  const double message = message_bytes(algorithm, cost);
  if (!wiring.several_nodes) {
    const Link node = link_for(algorithm, cost, links[wiring.on_node], message);
    return seconds_on_one_node(algorithm, cost, node, spread.size, bytes, switching) +
           protocol_seconds(algorithm, cost, node);
  }
  const Levels levels = levels_of(algorithm, cost, spread);
  const Link node = link_for(algorithm, levels.on_node, links[wiring.on_node], message);
  const Link network = link_for(algorithm, levels.across, links[LinkLevel::network], message);
  const bool both_ways = goes_both_ways(algorithm);
  const double hidden = hidden_part(algorithm);
  const double inside = passing_seconds(levels.on_node, node, {both_ways ? spread.most : 1.0, both_ways, hidden});
  const schedules::Factors factors = schedules::factors_of(algorithm, cost, spread.starts.across);
  const double outside =
      passing_seconds(levels.across, network, {senders_across(algorithm, spread), both_ways, hidden, factors});
  const double copied_inside = eager_seconds(algorithm, levels.on_node, node, message);
  const double copied_outside = eager_seconds(algorithm, levels.across, network, message);
  const auto of_both = [&levels](double a, double b) { return levels.at_once ? std::max(a, b) : a + b; };
  return starting_seconds(levels.on_node, node, switching) +
         starting_seconds(levels.across, network, switching, factors.start) +
         long_seconds(algorithm, levels.on_node, node, message) +
         long_seconds(algorithm, levels.across, network, message) + uneven_seconds(algorithm, levels.across, network) +
         of_both(inside, outside) + of_both(copied_inside, copied_outside) + local_seconds(cost, node);
}

}  // namespace

Links links_of(const Costs& costs, const Network& network) {
  // The calibration measures the farthest distance on a node at hand, so all distances on a node are priced alike.
  const Link on_node{.latency = costs.message,
                     .overhead = costs.message_gap,
                     .rate = 1 / costs.message_byte,
                     .several_rate = 1 / costs.message_byte,
                     .shared_rate = 16 / costs.message_byte,
                     .combining_rate = 1 / costs.combine,
                     .copying_rate = 1 / costs.far_copy};
  const NetworkFigures figures = figures_of(network);
  const Link across{.latency = figures.latency,
                    .overhead = figures.overhead,
                    .rate = figures.rate,
                    .several_rate = figures.rate,
                    .shared_rate = figures.node_rate,
                    .combining_rate = on_node.combining_rate,
                    .copying_rate = on_node.copying_rate};
  return {{{on_node, on_node, on_node, on_node, on_node, across}}, 4 * costs.turn};
}

schedules::Starts starts_of(const Links& links, LinkLevel on_node, int nodes, int per_node) {
  // Two binary digits behind the first.
  const auto rounded = [](double value, double least, double most) {
    const double within = std::clamp(value, least, most);
    const double digit = std::exp2(std::floor(std::log2(within))) / 4;
    return digit * std::round(within / digit);
  };
  const auto pace = [&rounded](const Link& link) {
    return schedules::LevelPace{.start = rounded(link.latency * link.rate, 256, 1 << 20),
                                .message = rounded(link.overhead * link.rate, 64, 1 << 18),
                                .several = rounded(link.several_rate / link.rate, 1, 64),
                                .shared = rounded(link.shared_rate / link.rate, 1, 1024),
                                .one_way = rounded(several_rate_of(link, false) / link.rate, 1, 64),
                                .passing = rounded(passing_rate_of(link) / link.rate, 1, 64)};
  };
  const Link& node = links[on_node];
  const Link& network = links[LinkLevel::network];
  schedules::Starts starts{pace(node), pace(network)};
  // Pipelines among the ranks of one node keep the default, because these ranks share the rate of its memory.
  const double start = network.latency + network.overhead;
  starts.across.through = rounded(start * network.rate, 256, 1 << 20);
  const double slower = per_node > 1 ? std::min(node.rate, network.rate) : network.rate;
  if (nodes > 1) starts.through = rounded(start * slower, 256, 1 << 20);
  if (nodes < 2 || distances_of(links.fabric) == 0) return starts;
  starts.across.factors = factors_by_flow(links.fabric, nodes);
  for (schedules::Factors& factors : starts.across.factors)
    factors = {rounded(factors.start, 1.0 / 64, 1), rounded(factors.bytes, 1, 1024)};
  return starts;
}

double bytes_of_call(const Signature& signature, int size) {
  const double bytes = static_cast<double>(signature.count) * static_cast<double>(signature.type.size());
  return tutti::has_equal_blocks(signature.operation) ? bytes * size : bytes;
}

double lost_part(const Signature& signature, int size, const Costs& costs) {
  const Operation operation = signature.operation;
  const OperationTraits& row = traits_of(operation);
  const double all = bytes_of_call(signature, size);
  const double block = has_equal_blocks(operation) || operation == Operation::reduce_scatter ? all / size : all;
  const bool is_of_root = row.has_root();
  const double given = is_split(operation) && !is_of_root ? all : block;
  const double taken = row.taken == BlockKind::each && !is_of_root ? all : operation == Operation::bcast ? 0 : block;
  return std::min(1.0, (given + taken) * costs.cache_part);
}

double cold_seconds(double warm, double lost, const Costs& costs) {
  return lost * std::max(0.0, costs.kernel_cold_byte - warm);
}

double seconds(const Cost& cost, const Link& link, const Crowd& crowd, double switching) {
  return starting_seconds(cost, link, switching, crowd.factors.start) + passing_seconds(cost, link, crowd) +
         local_seconds(cost, link);
}

double seconds_across(const schedules::LevelCost& cost, const Wiring& wiring, const Links& links) {
  const double switching = wiring.oversubscribed ? links.switching : 0;
  return seconds_of_phase(cost.across, cost.chunks, links[LinkLevel::network], switching) +
         local_seconds(cost.local, links[wiring.on_node]);
}

std::size_t joined_bytes(const Links& links) {
  const Link& network = links[LinkLevel::network];
  return static_cast<std::size_t>(network.overhead * network.copying_rate);
}

double predict(const Algorithm& algorithm, const Signature& signature, const Wiring& wiring, const Links& links) {
  const double switching = wiring.oversubscribed ? links.switching : 0;
  if (!algorithm.hierarchical) return seconds_of_flat(algorithm, signature, wiring, links, switching);
  const schedules::LevelCost cost = algorithm.level_cost(wiring.spread, bytes_of_call(signature, wiring.spread.size));
  const Link& node = links[wiring.on_node];
  const double across = seconds_across(cost, wiring, links);
  double alone = 0;
  double beside = 0;
  for (const schedules::PhaseCost& phase : cost.on_node) {
    (phase.beside ? beside : alone) += seconds_of_phase(phase, cost.chunks, node, switching);
    // Both levels move bytes at once, but a rank starts its messages one after the other.
    if (phase.beside) alone += phase.cost.messages * node.overhead;
  }
  return std::max(across, beside) + alone;
}

std::vector<int> nodes_of(const Topology& topology) {
  std::vector<int> nodes;
  for (const Place& place : topology.places) nodes.push_back(place.node);
  return nodes;
}

LinkLevel level_on_node(const Topology& topology) {
  std::vector<const Place*> firsts(static_cast<std::size_t>(topology.nodes), nullptr);
  LinkLevel level = LinkLevel::core;
  for (const Place& place : topology.places) {
    const Place*& first = firsts[static_cast<std::size_t>(place.node)];
    if (first == nullptr) first = &place;
    if (first != &place) level = std::max(level, level_between(*first, place));
  }
  return level;
}

}  // namespace tutti::detail
