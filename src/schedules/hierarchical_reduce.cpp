// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
Schedule reduce_hierarchical(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Slice all = input(0, p.count);
  // Only the root has an output.
  const bool combines = l.is_leader() && l.node_size() > 1;
  const Slice partial = combines ? c.reserve(p.count) : all;
  if (l.node_size() > 1)
    on_node(c, l, phase_on_node(l, p, Operation::reduce, bytes_of(p), p.starts.order), p.count, all, partial);
  among_leaders(c, l, flat_across(l, p, Operation::reduce, bytes_of(p), 1, p.starts.order), l.node_of(p.root), p.count,
                partial, output(0, p.count));
  return c.finish(true);
}

LevelCost reduce_hierarchical_cost(const Spread& s, double bytes) {
  LevelCost cost{{}, cost_across(s, Operation::reduce, bytes, 1, s.starts.order), {{Operation::reduce, bytes}}};
  if (s.most > 1) cost.on_node = {cost_on_node(s, Operation::reduce, bytes, s.starts.order)};
  return cost;
}

Schedule reduce_hierarchical_split(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Shares shares(l, p, p.count);
  const Block own = shares.own();
  const int root_node = l.node_of(p.root);
  const bool is_alone = l.node_size() == 1;
  const bool ends_here = l.node() == root_node;
  const Slice sum = is_alone ? input(own) : c.reserve(own.count);
  const Slice all = is_alone ? output(0, own.count) : c.reserve(ends_here ? own.count : 0);
  if (!is_alone) shares.reduce_scatter(c, input(0, p.count), sum);
  among_peers(c, l, flat_across(l, p, Operation::reduce, bytes_of(p, own.count), l.spread().least, p.starts.order),
              root_node, own.count, sum, all);
  if (!is_alone && ends_here) shares.gather(c, all, output(0, p.count));
  return c.finish(true);
}

LevelCost reduce_hierarchical_split_cost(const Spread& s, double bytes) {
  const double shared = bytes_with_shares(s, bytes);
  LevelCost cost{{},
                 cost_across(s, Operation::reduce, bytes / s.least, s.least, s.starts.order),
                 {{Operation::reduce_scatter, shared}, {Operation::gather, bytes}}};
  if (s.most > 1) cost.on_node = {Shares::reduce_scatter_cost(s, bytes), star(gather_linear_cost(s.most, bytes))};
  return cost;
}

Schedule reduce_hierarchical_gather(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  const NodeBlocks blocks(l, p.count);
  Composer c;
  const bool is_root = p.rank == p.root;
  const Block node = blocks.of_node(l.node());
  const Slice whole = is_root ? c.reserve(blocks.total()) : scratch(0, 0);
  // At the root, a node's contributions lie at the node's place; on another leader, at the start of its scratch.
  const Slice mine = is_root ? part_of(whole, node.offset, node.count) : l.is_leader() ? c.reserve(node.count) : whole;
  on_node(c, l, {Operation::gather, gather_linear}, p.count, input(0, p.count), mine);
  gather_from_leaders(c, l, blocks, p, mine, whole);
  if (is_root) combine_ranks(c, blocks, whole, output(0, p.count));
  return c.finish(true);
}

LevelCost reduce_hierarchical_gather_cost(const Spread& s, double bytes) {
  return {{star(gather_linear_cost(s.most, bytes * s.most))},
          star(gather_linear_cost(s.nodes, bytes * s.size)),
          {{Operation::gather, bytes * s.most}},
          combine_ranks_cost(s, bytes)};
}

}  // namespace tutti::schedules
