// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/tree.hpp"

namespace tutti::schedules {
namespace {

Schedule signals_up(const Problem& p) {
  Builder b;
  const Tree tree(p);
  for (int distance = 1; distance < tree.width() && tree.has_child(distance); distance *= 2) {
    b.recv_signal(tree.child(distance));
    b.end_round();
  }
  if (!tree.is_root()) b.send_signal(tree.parent());
  return b.finish(0, true);
}

Schedule signals_down(const Problem& p) {
  Builder b;
  const Tree tree(p);
  if (!tree.is_root()) b.recv_signal(tree.parent());
  b.end_round();
  for (int distance = tree.width() / 2; distance > 0; distance /= 2) {
    if (tree.has_child(distance)) b.send_signal(tree.child(distance));
    b.end_round();
  }
  return b.finish(0, true);
}

}  // namespace

Schedule barrier_hierarchical(const Problem& p) {
  const Layout l(p);
  Composer c;
  const Slice nothing = output(0, 0);
  on_node(c, l, {Operation::barrier, signals_up}, 0, nothing, nothing);
  among_leaders(c, l, flat_across(l, p, Operation::barrier, 0, 1), 0, 0, nothing, nothing);
  on_node(c, l, {Operation::barrier, signals_down}, 0, nothing, nothing);
  return c.finish(true);
}

LevelCost barrier_hierarchical_cost(const Spread& s, double bytes) {
  return {{star(barrier_binomial_cost(s.most, bytes))},
          cost_across(s, Operation::barrier, bytes, 1),
          {{Operation::barrier, 0}, {Operation::barrier, 0}}};
}

}  // namespace tutti::schedules
