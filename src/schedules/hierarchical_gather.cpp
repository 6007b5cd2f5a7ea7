// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {

Schedule gather_hierarchical(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  const NodeBlocks blocks(l, p.count);
  const Blocks ranks = uniform_blocks(p.count, p.size);
  Composer c;
  const Block node = blocks.of_node(l.node());
  const bool is_root = p.rank == p.root;
  const bool in_order = blocks.lie_as(ranks);
  const Slice result = output(0, blocks.total());
  const Slice whole = is_root && !in_order ? c.reserve(blocks.total()) : result;
  const Slice mine = is_root ? part_of(whole, node.offset, node.count) : c.reserve(l.is_leader() ? node.count : 0);
  on_node(c, l, phase_on_node(l, p, Operation::gather, bytes_of(p, node.count)), p.count, input(0, p.count), mine);
  if (l.spread().even()) {
    among_leaders(c, l, flat_across(l, p, Operation::gather, bytes_of(p, blocks.total()), 1), l.node_of(p.root),
                  node.count, mine, whole);
  } else {
    gather_from_leaders(c, l, blocks, p, mine, whole);
  }
  if (is_root && !in_order) to_rank_order(c, blocks, whole, ranks, result);
  return c.finish(true);
}

LevelCost gather_hierarchical_cost(const Spread& s, double bytes) {
  const double node = bytes * s.most / s.size;
  return {{cost_on_node(s, Operation::gather, node)},
          s.even() ? cost_across(s, Operation::gather, bytes, 1) : star(gather_linear_cost(s.nodes, bytes)),
          {{Operation::gather, node}},
          copies(s.adjacent ? 0 : bytes)};
}

Schedule scatter_hierarchical(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  const NodeBlocks blocks(l, p.count);
  const Blocks ranks = uniform_blocks(p.count, p.size);
  Composer c;
  const Block node = blocks.of_node(l.node());
  const bool is_root = p.rank == p.root;
  const bool in_order = blocks.lie_as(ranks);
  const Slice source = input(0, blocks.total());
  const Slice whole = is_root && !in_order ? c.reserve(blocks.total()) : source;
  const Slice mine = is_root ? part_of(whole, node.offset, node.count) : c.reserve(l.is_leader() ? node.count : 0);
  if (is_root && !in_order) to_node_order(c, ranks, source, blocks, whole);
  if (l.spread().even()) {
    among_leaders(c, l, flat_across(l, p, Operation::scatter, bytes_of(p, blocks.total()), 1), l.node_of(p.root),
                  node.count, whole, mine);
  } else if (l.is_leader()) {
    Problem q = problem_in_group(l.node(), l.leaders().size(), l.node_of(p.root), 0);
    q.recv_count = node.count;
    if (is_root) {
      q.send_counts = blocks.node_counts();
      q.send_displs = blocks.node_displs();
    }
    c.append(scatterv_linear(q), l.leaders(), whole, mine);
  }
  on_node(c, l, phase_on_node(l, p, Operation::scatter, bytes_of(p, node.count)), p.count, mine, output(0, p.count));
  return c.finish(true);
}

LevelCost scatter_hierarchical_cost(const Spread& s, double bytes) {
  const double node = bytes * s.most / s.size;
  return {{cost_on_node(s, Operation::scatter, node)},
          s.even() ? cost_across(s, Operation::scatter, bytes, 1) : star(scatter_linear_cost(s.nodes, bytes)),
          {{Operation::scatter, node}},
          copies(s.adjacent ? 0 : bytes)};
}

}  // namespace tutti::schedules
