// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"

namespace tutti::schedules {
namespace {

Schedule reduce_at_both_levels(const Problem& p, Generate flat) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Slice all = input(0, p.count);
  // Only the root has an output.
  const bool combines = l.is_leader() && l.node_size() > 1;
  const Slice partial = combines ? c.reserve(p.count) : all;
  if (l.node_size() > 1) on_node(c, l, {Operation::reduce, flat}, p.count, all, partial);
  among_leaders(c, l, flat, l.node_of(p.root), p.count, partial, output(0, p.count));
  return c.finish(true);
}

}  // namespace

Schedule reduce_hierarchical(const Problem& p) { return reduce_at_both_levels(p, reduce_binomial); }
Schedule reduce_hierarchical_scatter(const Problem& p) { return reduce_at_both_levels(p, reduce_scatter_gather); }

LevelCost reduce_hierarchical_cost(const Spread& s, double bytes) {
  return {s.most > 1 ? reduce_binomial_cost(s.most, bytes) : Cost{},
          reduce_binomial_cost(s.nodes, bytes),
          1,
          {{Operation::reduce, bytes}}};
}
LevelCost reduce_hierarchical_scatter_cost(const Spread& s, double bytes) {
  return {s.most > 1 ? reduce_scatter_gather_cost(s.most, bytes) : Cost{},
          reduce_scatter_gather_cost(s.nodes, bytes),
          1,
          {{Operation::reduce, bytes}}};
}

Schedule reduce_hierarchical_split(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Shares shares(l, p.count);
  const Block own = shares.own();
  const int root_node = l.node_of(p.root);
  const bool is_alone = l.node_size() == 1;
  const bool ends_here = l.node() == root_node;
  const Slice sum = is_alone ? input(own) : c.reserve(own.count);
  const Slice all = is_alone ? output(0, own.count) : c.reserve(ends_here ? own.count : 0);
  if (!is_alone) shares.reduce_scatter(c, input(0, p.count), sum);
  among_peers(c, l, reduce_scatter_gather, root_node, own.count, sum, all);
  if (!is_alone && ends_here) shares.gather(c, all, output(0, p.count));
  return c.finish(true);
}

LevelCost reduce_hierarchical_split_cost(const Spread& s, double bytes) {
  const double shared = bytes_with_shares(s, bytes);
  const Cost node = reduce_scatter_direct_cost(s.most, shared) + gather_linear_cost(s.most, bytes);
  return {s.most > 1 ? node : Cost{},
          reduce_scatter_gather_cost(s.nodes, bytes / s.least),
          static_cast<double>(s.least),
          {{Operation::reduce_scatter, shared}, {Operation::gather, bytes}}};
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
  return {gather_linear_cost(s.most, bytes * s.most) + combine_ranks_cost(s, bytes),
          gather_linear_cost(s.nodes, bytes * s.size),
          1,
          {{Operation::gather, bytes * s.most}},
          combine_ranks_cost(s, bytes)};
}

}  // namespace tutti::schedules
