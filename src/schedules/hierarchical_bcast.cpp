// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"

namespace tutti::schedules {
namespace {

Schedule bcast_at_both_levels(const Problem& p, Generate flat) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Slice all = output(0, p.count);
  among_leaders(c, l, flat, l.node_of(p.root), p.count, {}, all);
  on_node(c, l, {Operation::bcast, flat}, p.count, {}, all);
  return c.finish(true);
}

}  // namespace

Schedule bcast_hierarchical(const Problem& p) { return bcast_at_both_levels(p, bcast_binomial); }
Schedule bcast_hierarchical_scatter(const Problem& p) { return bcast_at_both_levels(p, bcast_scatter_allgather); }

Schedule bcast_hierarchical_split(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Shares shares(l, p.count);
  const Slice whole = output(0, p.count);
  const Slice own = output(shares.own());
  const int root_node = l.node_of(p.root);
  if (l.node() == root_node) shares.scatter(c, whole, own);
  among_peers(c, l, bcast_scatter_allgather, root_node, own.count, {}, own);
  shares.allgather(c, own, whole);
  return c.finish(true);
}

LevelCost bcast_hierarchical_cost(const Spread& s, double bytes) {
  return {bcast_binomial_cost(s.most, bytes), bcast_binomial_cost(s.nodes, bytes), 1, {{Operation::bcast, bytes}}};
}
LevelCost bcast_hierarchical_scatter_cost(const Spread& s, double bytes) {
  return {bcast_scatter_allgather_cost(s.most, bytes),
          bcast_scatter_allgather_cost(s.nodes, bytes),
          1,
          {{Operation::bcast, bytes}}};
}

LevelCost bcast_hierarchical_split_cost(const Spread& s, double bytes) {
  const double shared = bytes_with_shares(s, bytes);
  return {scatter_linear_cost(s.most, bytes) + allgather_direct_cost(s.most, shared),
          bcast_scatter_allgather_cost(s.nodes, bytes / s.least),
          static_cast<double>(s.least),
          {{Operation::scatter, bytes}, {Operation::allgather, shared}}};
}

}  // namespace tutti::schedules
