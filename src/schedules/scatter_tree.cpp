// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/tree.hpp"

namespace tutti::schedules {
namespace {

/// Below the root, the blocks of a subtree lie in scratch in the tree's order; from the root they come in rank order,
/// in two messages where that order starts again at rank 0.
void send_subtree(Builder& b, const Problem& p, const Tree& tree, int distance) {
  const int n = tree.subtree(tree.place() + distance);
  const int child = tree.child(distance);
  if (!tree.is_root()) {
    b.send(child, scratch(distance * p.count, n * p.count));
    return;
  }
  const int before_wrap = std::min(n, p.size - child);
  b.send(child, input(child * p.count, before_wrap * p.count));
  b.send(child, input(0, (n - before_wrap) * p.count));
}

Schedule down(const Problem& p, int radix) {
  Builder b;
  const Tree tree(p, radix);
  const int n = tree.subtree(tree.place());
  const bool is_leaf = n == 1;
  if (!tree.is_root()) {
    const int first = tree.parent() == p.root ? std::min(n, p.size - p.rank) : n;
    b.recv(tree.parent(), is_leaf ? output(0, p.count) : scratch(0, first * p.count));
    if (!is_leaf) b.recv(tree.parent(), scratch(first * p.count, (n - first) * p.count));
    b.end_round();
  }
  for (int power = tree.width() / radix; power > 0; power /= radix) {
    for (int i = 1; i <= tree.children(power); ++i) send_subtree(b, p, tree, i * power);
    b.end_round();
  }
  if (tree.is_root()) b.copy(input(p.rank * p.count, p.count), output(0, p.count));
  if (!tree.is_root() && !is_leaf) b.copy(scratch(0, p.count), output(0, p.count));
  return b.finish(tree.is_root() || is_leaf ? 0 : n * p.count, true);
}

Cost scatter_cost(int size, double bytes, int radix) {
  const RootDuty duty = root_duty(size, radix);
  return {.rounds = duty.levels,
          .bytes = bytes * (size - 1) / size,
          .copied_bytes = bytes / size,
          .messages = duty.children};
}

}  // namespace

Schedule scatter_binomial(const Problem& p) { return down(p, 2); }
Cost scatter_binomial_cost(int size, double bytes) { return scatter_cost(size, bytes, 2); }

Schedule scatter_knomial(const Problem& p) { return down(p, 4); }
Cost scatter_knomial_cost(int size, double bytes) { return scatter_cost(size, bytes, 4); }

}  // namespace tutti::schedules
