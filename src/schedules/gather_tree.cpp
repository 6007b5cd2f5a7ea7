// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/tree.hpp"

namespace tutti::schedules {
namespace {

/// The blocks of a subtree lie in scratch in the tree's order. The root receives them in rank order: in two messages
/// where that order starts again at rank 0.
void receive_subtree(Builder& b, const Problem& p, const Tree& tree, int distance) {
  const int n = tree.subtree(tree.place() + distance);
  const int child = tree.child(distance);
  if (!tree.is_root()) {
    b.recv(child, scratch(distance * p.count, n * p.count));
    return;
  }
  const int before_wrap = std::min(n, p.size - child);
  b.recv(child, output(child * p.count, before_wrap * p.count));
  b.recv(child, output(0, (n - before_wrap) * p.count));
}

Schedule up(const Problem& p, int radix) {
  Builder b;
  const Tree tree(p, radix);
  const int n = tree.subtree(tree.place());
  const bool is_leaf = n == 1;
  if (tree.is_root()) b.copy(input(0, p.count), output(p.rank * p.count, p.count));
  if (!tree.is_root() && !is_leaf) b.copy(input(0, p.count), scratch(0, p.count));
  for (int power = 1; power < tree.width() && tree.has_child(power); power *= radix) {
    for (int i = 1; i <= tree.children(power); ++i) receive_subtree(b, p, tree, i * power);
    b.end_round();
  }
  if (!tree.is_root()) {
    const int first = tree.parent() == p.root ? std::min(n, p.size - p.rank) : n;
    b.send(tree.parent(), is_leaf ? input(0, p.count) : scratch(0, first * p.count));
    if (!is_leaf) b.send(tree.parent(), scratch(first * p.count, (n - first) * p.count));
  }
  return b.finish(tree.is_root() || is_leaf ? 0 : n * p.count, true);
}

Cost gather_cost(int size, double bytes, int radix) {
  const RootDuty duty = root_duty(size, radix);
  return {.rounds = duty.levels,
          .bytes = bytes * (size - 1) / size,
          .copied_bytes = bytes / size,
          .messages = duty.children};
}

}  // namespace

Schedule gather_binomial(const Problem& p) { return up(p, 2); }
Cost gather_binomial_cost(int size, double bytes) { return gather_cost(size, bytes, 2); }

Schedule gather_knomial(const Problem& p) { return up(p, 4); }
Cost gather_knomial_cost(int size, double bytes) { return gather_cost(size, bytes, 4); }

}  // namespace tutti::schedules
