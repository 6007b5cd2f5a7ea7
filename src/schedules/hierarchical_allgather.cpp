// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

Schedule allgather_by_leaders(const Problem& p, const Blocks& ranks) {
  const Layout l(p);
  std::vector<std::size_t> counts;
  for (const Block& block : ranks) counts.push_back(block.count);
  const NodeBlocks blocks(l, std::move(counts));
  Composer c;
  const bool in_order = blocks.lie_as(ranks);
  const Slice whole = in_order ? output(ranks.front().offset, blocks.total()) : c.reserve(blocks.total());
  const double bytes = bytes_of(p, blocks.total());
  allgather_to_leaders(c, l, blocks, flat_across(l, p, Operation::allgatherv, bytes, 1),
                       input(0, ranks[static_cast<std::size_t>(p.rank)].count), whole);
  on_node(c, l, phase_on_node(l, p, Operation::bcast, bytes), blocks.total(), {}, whole);
  if (!in_order) to_rank_order(c, blocks, whole, ranks, output(0, 0));
  return c.finish(true);
}

}  // namespace

Schedule allgather_hierarchical(const Problem& p) { return allgather_by_leaders(p, uniform_blocks(p.count, p.size)); }
Schedule allgatherv_hierarchical(const Problem& p) {
  return allgather_by_leaders(p, placed_blocks(p.recv_counts, p.recv_displs));
}
LevelCost allgather_hierarchical_cost(const Spread& s, double bytes) {
  return {{star(gather_linear_cost(s.most, bytes * s.most / s.size)), cost_on_node(s, Operation::bcast, bytes)},
          cost_across(s, Operation::allgatherv, bytes, 1),
          {{Operation::gather, bytes * s.most / s.size}, {Operation::bcast, bytes}},
          copies(s.adjacent ? 0 : bytes)};
}

Schedule allgather_hierarchical_split(const Problem& p) {
  const Layout l(p);
  Composer c;
  const std::size_t share = p.count * static_cast<std::size_t>(l.nodes());
  const Slice whole = c.reserve(share * l.members().size());
  const Slice mine = part_of(whole, share * static_cast<std::size_t>(l.index()), share);
  const double bytes = bytes_of(p) * p.size;
  among_peers(c, l, flat_across(l, p, Operation::allgather, bytes / l.node_size(), l.node_size()), 0, p.count,
              input(0, p.count), mine);
  on_node(c, l, phase_on_node(l, p, Operation::allgather, bytes), share, mine, whole);
  for (int rank = 0; rank < p.size; ++rank) {
    const std::size_t from =
        static_cast<std::size_t>(l.index_of(rank)) * share + static_cast<std::size_t>(l.node_of(rank)) * p.count;
    c.copy(part_of(whole, from, p.count), output(static_cast<std::size_t>(rank) * p.count, p.count));
  }
  return c.finish(true);
}
LevelCost allgather_hierarchical_split_cost(const Spread& s, double bytes) {
  return {{cost_on_node(s, Operation::allgather, bytes)},
          cost_across(s, Operation::allgather, bytes / s.most, s.most),
          {{Operation::allgather, bytes}},
          copies(bytes)};
}

}  // namespace tutti::schedules
