// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"

namespace tutti::schedules {
namespace {

Schedule by_leaders(const Problem& p, const Blocks& ranks, Generate across, Generate bcast) {
  const Layout l(p);
  std::vector<std::size_t> counts;
  for (const Block& block : ranks) counts.push_back(block.count);
  const NodeBlocks blocks(l, std::move(counts));
  Composer c;
  const bool in_order = blocks.lie_as(ranks);
  const Slice whole = in_order ? output(ranks.front().offset, blocks.total()) : c.reserve(blocks.total());
  allgather_to_leaders(c, l, blocks, across, input(0, ranks[static_cast<std::size_t>(p.rank)].count), whole);
  on_node(c, l, {Operation::bcast, bcast}, blocks.total(), {}, whole);
  if (!in_order) to_rank_order(c, blocks, whole, ranks, output(0, 0));
  return c.finish(true);
}

Cost on_node_cost(const Spread& s, double bytes, Cost bcast) {
  return gather_linear_cost(s.most, bytes * s.most / s.size) + bcast + copies(s.adjacent ? 0 : bytes);
}

std::vector<NodeCost> exchanges(const Spread& s, double bytes) {
  return {{Operation::gather, bytes * s.most / s.size}, {Operation::bcast, bytes}};
}

}  // namespace

Schedule allgather_hierarchical(const Problem& p) {
  return by_leaders(p, uniform_blocks(p.count, p.size), allgatherv_direct, bcast_binomial);
}
Schedule allgatherv_hierarchical(const Problem& p) {
  return by_leaders(p, placed_blocks(p.recv_counts, p.recv_displs), allgatherv_direct, bcast_binomial);
}
LevelCost allgather_hierarchical_cost(const Spread& s, double bytes) {
  return {on_node_cost(s, bytes, bcast_binomial_cost(s.most, bytes)), allgather_direct_cost(s.nodes, bytes), 1,
          exchanges(s, bytes), copies(s.adjacent ? 0 : bytes)};
}

Schedule allgather_hierarchical_ring(const Problem& p) {
  return by_leaders(p, uniform_blocks(p.count, p.size), allgatherv_ring, bcast_scatter_allgather);
}
Schedule allgatherv_hierarchical_ring(const Problem& p) {
  return by_leaders(p, placed_blocks(p.recv_counts, p.recv_displs), allgatherv_ring, bcast_scatter_allgather);
}
LevelCost allgather_hierarchical_ring_cost(const Spread& s, double bytes) {
  return {on_node_cost(s, bytes, bcast_scatter_allgather_cost(s.most, bytes)), allgather_ring_cost(s.nodes, bytes), 1,
          exchanges(s, bytes), copies(s.adjacent ? 0 : bytes)};
}

Schedule allgather_hierarchical_split(const Problem& p) {
  const Layout l(p);
  Composer c;
  const std::size_t share = p.count * static_cast<std::size_t>(l.nodes());
  const Slice whole = c.reserve(share * l.members().size());
  const Slice mine = part_of(whole, share * static_cast<std::size_t>(l.index()), share);
  among_peers(c, l, allgather_direct, 0, p.count, input(0, p.count), mine);
  on_node(c, l, {Operation::allgather, allgather_direct}, share, mine, whole);
  for (int rank = 0; rank < p.size; ++rank) {
    const std::size_t from =
        static_cast<std::size_t>(l.index_of(rank)) * share + static_cast<std::size_t>(l.node_of(rank)) * p.count;
    c.copy(part_of(whole, from, p.count), output(static_cast<std::size_t>(rank) * p.count, p.count));
  }
  return c.finish(true);
}
LevelCost allgather_hierarchical_split_cost(const Spread& s, double bytes) {
  return {allgather_direct_cost(s.most, bytes) + copies(bytes),
          allgather_direct_cost(s.nodes, bytes / s.most),
          static_cast<double>(s.most),
          {{Operation::allgather, bytes}},
          copies(bytes)};
}

}  // namespace tutti::schedules
