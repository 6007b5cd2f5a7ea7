// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

std::vector<std::size_t> counts_of(const Blocks& blocks) {
  std::vector<std::size_t> counts;
  for (const Block& block : blocks) counts.push_back(block.count);
  return counts;
}

Schedule sum_by_leaders(const Problem& p, const Blocks& ranks) {
  const Layout l(p);
  const NodeBlocks blocks(l, counts_of(ranks));
  Composer c;
  const bool is_alone = l.node_size() == 1;
  const bool in_order = blocks.lie_as(ranks);
  const Block node = blocks.of_node(l.node());
  const Slice all = input(0, blocks.total());
  const Slice sums = is_alone ? all : c.reserve(l.is_leader() ? blocks.total() : 0);
  const Slice sorted = in_order ? sums : c.reserve(l.is_leader() ? blocks.total() : 0);
  const Slice result = c.reserve(l.is_leader() ? node.count : 0);
  const double bytes = bytes_of(p, blocks.total());
  if (!is_alone)
    on_node(c, l, phase_on_node(l, p, Operation::reduce, bytes, p.starts.order), blocks.total(), all, sums);
  if (l.is_leader()) {
    if (!in_order) to_node_order(c, ranks, sums, blocks, sorted);
    Problem q = problem_in_group(l.node(), l.leaders().size(), 0, 0);
    q.recv_counts = blocks.node_counts();
    c.append(flat_across(l, p, Operation::reduce_scatter, bytes, 1, p.starts.order)(q), l.leaders(), sorted, result);
  }
  scatter_blocks(c, l, blocks.member_counts(l.node()), blocks.member_displs(l.node()), result,
                 output(0, ranks[static_cast<std::size_t>(p.rank)].count));
  return c.finish(true);
}

/// The blocks of the ranks at place 0 of every node, then at place 1, and so on. Each member of a node combines the
/// blocks of its own place.
Schedule sum_by_all(const Problem& p, const Blocks& ranks) {
  const Layout l(p);
  Composer c;
  const Slice sorted = c.reserve(ranks.back().offset + ranks.back().count);
  std::vector<std::size_t> of_place;
  std::vector<std::size_t> of_node;
  std::size_t end = 0;
  for (int place = 0; place < l.node_size(); ++place) {
    const std::size_t begin = end;
    for (int node = 0; node < l.nodes(); ++node) {
      const Block& block = ranks[static_cast<std::size_t>(l.members(node)[static_cast<std::size_t>(place)])];
      c.copy(input(block), part_of(sorted, end, block.count));
      end += block.count;
      if (place == l.index()) of_node.push_back(block.count);
    }
    of_place.push_back(end - begin);
  }
  const std::size_t share = of_place[static_cast<std::size_t>(l.index())];
  const Slice sums = c.reserve(share);
  Problem node = problem_in_group(l.index(), l.members().size(), 0, 0);
  node.recv_counts = of_place;
  const double bytes = bytes_of(p, end);
  on_node(c, l, phase_on_node(l, p, Operation::reduce_scatter, bytes, p.starts.order), node, sorted, sums);
  Problem across = problem_in_group(l.node(), static_cast<std::size_t>(l.nodes()), 0, 0);
  across.recv_counts = of_node;
  const Slice own = output(0, ranks[static_cast<std::size_t>(p.rank)].count);
  c.append(flat_across(l, p, Operation::reduce_scatter, bytes / l.node_size(), l.node_size(), p.starts.order)(across),
           l.peers(), sums, own);
  return c.finish(true);
}

}  // namespace

Schedule reduce_scatter_block_hierarchical(const Problem& p) {
  return sum_by_leaders(p, uniform_blocks(p.count, p.size));
}
Schedule reduce_scatter_hierarchical(const Problem& p) { return sum_by_leaders(p, packed_blocks(p.recv_counts)); }
LevelCost reduce_scatter_hierarchical_cost(const Spread& s, double bytes) {
  const double node = bytes * s.most / s.size;
  LevelCost cost{{star(scatter_linear_cost(s.most, node))},
                 cost_across(s, Operation::reduce_scatter, bytes, 1, s.starts.order),
                 {{Operation::reduce, bytes}, {Operation::scatter, node}},
                 copies(s.adjacent ? 0 : bytes)};
  if (s.most > 1) cost.on_node.push_back(cost_on_node(s, Operation::reduce, bytes, s.starts.order));
  return cost;
}

Schedule reduce_scatter_block_hierarchical_split(const Problem& p) {
  return sum_by_all(p, uniform_blocks(p.count, p.size));
}
Schedule reduce_scatter_hierarchical_split(const Problem& p) { return sum_by_all(p, packed_blocks(p.recv_counts)); }
LevelCost reduce_scatter_hierarchical_split_cost(const Spread& s, double bytes) {
  return {{cost_on_node(s, Operation::reduce_scatter, bytes, s.starts.order)},
          cost_across(s, Operation::reduce_scatter, bytes / s.most, s.most, s.starts.order),
          {{Operation::reduce_scatter, bytes}},
          copies(bytes)};
}

}  // namespace tutti::schedules
