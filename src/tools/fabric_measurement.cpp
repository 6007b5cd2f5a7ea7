// SPDX-License-Identifier: BSD-3-Clause
#include "tools/link_measurement.hpp"

#include <algorithm>
#include <bit>

#include "tools/link_meter.hpp"

namespace tutti::tools {
namespace {

constexpr unsigned most_at_once = 16;

std::size_t smallest_of(const NodeRanks& nodes) {
  return std::ranges::min_element(nodes, {}, &std::vector<int>::size)->size();
}

/// The ranks at this one's place of nodes at distances that are spread over all.
std::vector<int> partners_everywhere(int rank, const NodeRanks& nodes, unsigned most) {
  const unsigned farthest = std::bit_ceil(static_cast<unsigned>(nodes.size())) - 1;
  const std::size_t ranks = smallest_of(nodes);
  std::vector<int> partners;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const auto place = static_cast<std::size_t>(std::ranges::find(nodes[node], rank) - nodes[node].begin());
    if (place >= ranks) continue;
    for (unsigned i = 0; i < most; ++i)
      if (const std::size_t other = node ^ (1 + i * farthest / most); other < nodes.size())
        partners.push_back(nodes[other][place]);
  }
  return partners;
}

}  // namespace

// One rank of each node sends the empty messages, since several would be in each other's way.
detail::Fabric::Distance measure_pairs(Meter& meter, const Pairs& pairs, const NodeRanks& nodes,
                                       const LinkEffort& effort) {
  const std::size_t ranks = smallest_of(nodes);
  Pairs firsts;
  for (std::size_t i = 0; i < pairs.size(); i += ranks) firsts.push_back(pairs[i]);
  return {meter.one_way(firsts, effort.times), static_cast<double>(ranks) * meter.rate(pairs, effort.long_times)};
}

NodeRanks ranks_by_node(std::span<const Place> places) {
  NodeRanks nodes;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto node = static_cast<std::size_t>(places[rank].node);
    if (node >= nodes.size()) nodes.resize(node + 1);
    nodes[node].push_back(static_cast<int>(rank));
  }
  return nodes;
}

Pairs pairs_apart(unsigned digit, const NodeRanks& nodes) {
  const std::size_t ranks = smallest_of(nodes);
  Pairs pairs;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    if (const std::size_t other = node ^ (std::size_t{1} << digit); node < other && other < nodes.size())
      for (std::size_t place = 0; place < ranks; ++place) pairs.emplace_back(nodes[node][place], nodes[other][place]);
  return pairs;
}

detail::Fabric measure_fabric(MPI_Comm comm, std::span<const Place> places, const LinkEffort& effort) {
  const NodeRanks nodes = ranks_by_node(places);
  detail::Fabric fabric;
  if (nodes.size() < 3) return fabric;
  Meter meter(comm);
  const std::size_t ranks = smallest_of(nodes);
  for (unsigned digit = 0; std::size_t{1} << digit < nodes.size(); ++digit)
    fabric.at.at(digit) = measure_pairs(meter, pairs_apart(digit, nodes), nodes, effort);
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const unsigned most = std::min(most_at_once, std::bit_ceil(static_cast<unsigned>(nodes.size())) - 1);
  fabric.everywhere =
      static_cast<double>(ranks) * meter.rate_of_all(partners_everywhere(rank, nodes, most), most, effort.long_times);
  return fabric;
}

}  // namespace tutti::tools
