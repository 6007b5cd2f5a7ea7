// SPDX-License-Identifier: BSD-3-Clause
#include "tools/link_measurement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tools/link_meter.hpp"

namespace tutti::tools {
namespace {

using detail::level_between;
using detail::LinkLevel;

constexpr std::size_t most_partners = 8;
constexpr std::size_t most_of_one_way = 32;

/// The pairs that two nodes have, or one with itself.
Pairs pairs_between(LinkLevel level, std::span<const Place> places, int node, int other) {
  Pairs pairs;
  std::vector<bool> is_taken(places.size(), false);
  for (std::size_t a = 0; a < places.size(); ++a) {
    if (places[a].node != node || is_taken[a]) continue;
    for (std::size_t b = 0; b < places.size(); ++b) {
      if (a == b || is_taken[b] || places[b].node != other || level_between(places[a], places[b]) != level) continue;
      is_taken[a] = is_taken[b] = true;
      pairs.emplace_back(a, b);
      break;
    }
  }
  return pairs;
}

/// The ranks at that distance from the first rank of the pairs, at most so many.
std::vector<int> partners_of(int hub, LinkLevel level, std::span<const Place> places, std::size_t most) {
  std::vector<int> partners;
  for (std::size_t rank = places.size(); rank-- > 0 && partners.size() < most;)
    if (static_cast<int>(rank) != hub && level_between(places[static_cast<std::size_t>(hub)], places[rank]) == level)
      partners.push_back(static_cast<int>(rank));
  return partners;
}

/// What the ranks of a node carry together while each exchanges with several at once, in bytes/s: with one each, few
/// ranks may not fill the node's memory.
double rate_of_node(Meter& meter, int node, LinkLevel level, std::span<const Place> places, int times) {
  double ranks = 0;
  std::vector<int> partners;
  for (int other = 0; other < static_cast<int>(places.size()); ++other) {
    if (places[static_cast<std::size_t>(other)].node != node) continue;
    std::vector<int> found = partners_within(level, other, places, most_partners);
    ranks += found.empty() ? 0 : 1;
    if (other == meter.rank()) partners = std::move(found);
  }
  return ranks * meter.rate_of_all(partners, most_partners, times);
}

/// Long messages wait for their receiver: these must be longer than an MPI sends ahead.
constexpr int surely_long = 256 << 10;
constexpr int least_eager = 1 << 10;

/// What a long message takes beside its bytes, at the pace of longer ones, and the longest message that takes what a
/// short one does rather than that, to within an eighth.
void measure_long_messages(Meter& meter, const Pairs& pairs, int times, detail::Link& link) {
  const double seconds = meter.one_way(pairs, times, surely_long);
  const double byte = std::max(0.0, meter.one_way(pairs, times, 2 * surely_long) - seconds) / surely_long;
  link.long_latency = std::max(0.0, seconds - surely_long * byte);
  const auto is_eager = [&](int bytes) {
    const double start = meter.one_way(pairs, times, bytes) - bytes * byte;
    return std::abs(start - link.latency) < std::abs(start - link.long_latency);
  };
  int eager = least_eager / 2;
  while (eager < surely_long && is_eager(2 * eager)) eager *= 2;
  for (int more = eager / 2, least = eager / 8; more >= least && eager < surely_long; more /= 2)
    if (is_eager(eager + more)) eager += more;
  link.eager = eager;
}

LinkMeasurement measure_level(MPI_Comm comm, LinkLevel level, const Pairs& pairs, std::span<const Place> places,
                              const LinkEffort& effort) {
  Meter meter(comm);
  LinkMeasurement found{level, {}, {}};
  const Pairs one(pairs.begin(), pairs.begin() + 1);
  found.link.latency = meter.one_way(one, effort.times);
  found.link.overhead = std::max(0.0, meter.gap(one, effort.times));
  measure_long_messages(meter, one, effort.long_times, found.link);
  for (std::size_t k = 1;; k = std::min(2 * k, pairs.size())) {
    const Pairs some(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(k));
    found.loads.push_back({static_cast<int>(k), meter.rate(some, effort.long_times)});
    if (k == pairs.size()) break;
  }
  // On a node both ends of a pair send what the node's memory carries; between nodes each is on another one.
  const bool is_network = level == LinkLevel::network;
  const double ends = is_network ? 1 : 2;
  found.link.rate = found.loads.front().rate;
  for (const LinkMeasurement::Load& load : found.loads)
    found.link.shared_rate = std::max(found.link.shared_rate, ends * load.pairs * load.rate);
  const int hub = pairs.front().first;
  if (is_network) {
    found.link.passing_rate = std::max(found.link.rate, meter.passing_rate(one, effort.long_times));
  } else {
    // A core copies both what its rank takes and what it gives: passing on is no quicker than exchanging.
    const int node = places[static_cast<std::size_t>(hub)].node;
    found.link.shared_rate =
        std::max(found.link.shared_rate, rate_of_node(meter, node, level, places, effort.long_times));
  }
  found.link.several_rate = std::max(
      found.link.rate, meter.several_rate(hub, partners_of(hub, level, places, most_partners), effort.long_times));
  found.link.one_way_rate =
      std::max(passing_rate_of(found.link),
               meter.one_way_rate(hub, partners_of(hub, level, places, most_of_one_way), effort.long_times));
  return found;
}

}  // namespace

std::vector<int> partners_within(LinkLevel level, int rank, std::span<const Place> places, std::size_t most) {
  const Place& place = places[static_cast<std::size_t>(rank)];
  std::vector<int> group;
  for (int other = 0; other < static_cast<int>(places.size()); ++other) {
    const Place& there = places[static_cast<std::size_t>(other)];
    if (there.node == place.node && (other == rank || level_between(place, there) <= level)) group.push_back(other);
  }
  const auto own = static_cast<std::size_t>(std::ranges::find(group, rank) - group.begin());
  std::vector<int> partners;
  for (std::size_t i = 1; i < group.size(); ++i)  // the nearest ones on both sides: those of whom it is one, too
    if (group.size() - 1 <= most || std::min(i, group.size() - i) <= most / 2)
      partners.push_back(group[(own + i) % group.size()]);
  return partners;
}

Pairs pairs_at(LinkLevel level, std::span<const Place> places) {
  if (places.empty()) return {};
  std::map<int, int> ranks_of;
  for (const Place& place : places) ++ranks_of[place.node];
  if (level == LinkLevel::network) {
    // The first node and the last one, which are the farthest apart where ranks fill a network in order.
    if (ranks_of.size() < 2) return {};
    return pairs_between(
        level, places, places.front().node,
        places.back().node == places.front().node ? std::prev(ranks_of.end())->first : places.back().node);
  }
  Pairs most;
  for (const auto& [node, ranks] : ranks_of) {
    Pairs pairs = pairs_between(level, places, node, node);
    if (pairs.size() > most.size()) most = std::move(pairs);
  }
  return most;
}

std::vector<LinkMeasurement> measure_links(MPI_Comm comm, std::span<const Place> places, const LinkEffort& effort) {
  std::vector<LinkMeasurement> measured;
  for (std::size_t level = 0; level < detail::link_levels; ++level) {
    const Pairs pairs = pairs_at(static_cast<LinkLevel>(level), places);
    if (!pairs.empty()) measured.push_back(measure_level(comm, static_cast<LinkLevel>(level), pairs, places, effort));
  }
  return measured;
}

detail::Links links_of(std::span<const LinkMeasurement> measured) {
  detail::Links links;
  for (const LinkMeasurement& one : measured) links[one.level] = one.link;
  return links;
}

}  // namespace tutti::tools
