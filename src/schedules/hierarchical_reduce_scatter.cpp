// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"

namespace tutti::schedules {
namespace {

std::vector<std::size_t> counts_of(const Blocks& blocks) {
  std::vector<std::size_t> counts;
  for (const Block& block : blocks) counts.push_back(block.count);
  return counts;
}

Schedule by_leaders(const Problem& p, const Blocks& ranks) {
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
  if (!is_alone) on_node(c, l, {Operation::reduce, reduce_binomial}, blocks.total(), all, sums);
  if (l.is_leader()) {
    if (!in_order) to_node_order(c, ranks, sums, blocks, sorted);
    Problem q = problem_in_group(l.node(), l.leaders().size(), 0, 0);
    q.recv_counts = blocks.node_counts();
    c.append(reduce_scatter_direct(q), l.leaders(), sorted, result);
  }
  scatter_blocks(c, l, blocks.member_counts(l.node()), blocks.member_displs(l.node()), result,
                 output(0, ranks[static_cast<std::size_t>(p.rank)].count));
  return c.finish(true);
}

/// The blocks of the ranks at place 0 of every node, then at place 1, and so on. Each member of a node combines the
/// blocks of its own place.
Schedule by_all(const Problem& p, const Blocks& ranks) {
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
  on_node(c, l, {Operation::reduce_scatter, reduce_scatter_direct}, node, sorted, sums);
  Problem across = problem_in_group(l.node(), static_cast<std::size_t>(l.nodes()), 0, 0);
  across.recv_counts = of_node;
  const Slice own = output(0, ranks[static_cast<std::size_t>(p.rank)].count);
  c.append(reduce_scatter_direct(across), l.peers(), sums, own);
  return c.finish(true);
}

}  // namespace

Schedule reduce_scatter_block_hierarchical(const Problem& p) { return by_leaders(p, uniform_blocks(p.count, p.size)); }
Schedule reduce_scatter_hierarchical(const Problem& p) { return by_leaders(p, packed_blocks(p.recv_counts)); }
LevelCost reduce_scatter_hierarchical_cost(const Spread& s, double bytes) {
  const Cost sum = s.most > 1 ? reduce_binomial_cost(s.most, bytes) : Cost{};
  return {sum + copies(s.adjacent ? 0 : bytes) + scatter_linear_cost(s.most, bytes * s.most / s.size),
          reduce_scatter_direct_cost(s.nodes, bytes),
          1,
          {{Operation::reduce, bytes}, {Operation::scatter, bytes * s.most / s.size}},
          copies(s.adjacent ? 0 : bytes)};
}

Schedule reduce_scatter_block_hierarchical_split(const Problem& p) {
  return by_all(p, uniform_blocks(p.count, p.size));
}
Schedule reduce_scatter_hierarchical_split(const Problem& p) { return by_all(p, packed_blocks(p.recv_counts)); }
LevelCost reduce_scatter_hierarchical_split_cost(const Spread& s, double bytes) {
  return {copies(bytes) + reduce_scatter_direct_cost(s.most, bytes),
          reduce_scatter_direct_cost(s.nodes, bytes / s.most),
          static_cast<double>(s.most),
          {{Operation::reduce_scatter, bytes}},
          copies(bytes)};
}

}  // namespace tutti::schedules
