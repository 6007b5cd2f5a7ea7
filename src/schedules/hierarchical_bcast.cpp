// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
Schedule bcast_hierarchical(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Slice all = output(0, p.count);
  among_leaders(c, l, flat_across(l, p, Operation::bcast, bytes_of(p), 1), l.node_of(p.root), p.count, {}, all);
  on_node(c, l, phase_on_node(l, p, Operation::bcast, bytes_of(p)), p.count, {}, all);
  return c.finish(true);
}
LevelCost bcast_hierarchical_cost(const Spread& s, double bytes) {
  return {{cost_on_node(s, Operation::bcast, bytes)},
          cost_across(s, Operation::bcast, bytes, 1),
          {{Operation::bcast, bytes}}};
}

Schedule bcast_hierarchical_split(const Problem& p) {
  const Layout l(p, Layout::Leaders::root);
  Composer c;
  const Shares shares(l, p, p.count);
  const Slice whole = output(0, p.count);
  const Slice own = output(shares.own());
  const int root_node = l.node_of(p.root);
  if (l.node() == root_node) shares.scatter(c, whole, own);
  among_peers(c, l, flat_across(l, p, Operation::bcast, bytes_of(p, own.count), l.spread().least), root_node, own.count,
              {}, own);
  shares.allgather(c, own, whole);
  return c.finish(true);
}

LevelCost bcast_hierarchical_split_cost(const Spread& s, double bytes) {
  return {{star(scatter_linear_cost(s.most, bytes)), Shares::allgather_cost(s, bytes)},
          cost_across(s, Operation::bcast, bytes / s.least, s.least),
          {{Operation::scatter, bytes}, {Operation::allgather, bytes_with_shares(s, bytes)}}};
}

}  // namespace tutti::schedules
