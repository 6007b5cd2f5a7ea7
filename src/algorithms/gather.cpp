// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithms.hpp"
#include "algorithms/tree.hpp"

namespace tutti::algorithms {
namespace {

Schedule linear(const Problem& p, std::size_t own, const Blocks& blocks) {
  Builder b;
  if (p.rank != p.root) {
    b.send(p.root, input(0, own));
    return b.finish(0, true);
  }
  for (int i = 0; i < p.size; ++i)
    if (i != p.rank) b.recv(i, output(blocks[i]));
  b.copy(input(0, blocks[p.rank].count), output(blocks[p.rank]));
  return b.finish(0, true);
}

}  // namespace

Schedule gather_linear(const Problem& p) { return linear(p, p.count, uniform_blocks(p.count, p.size)); }
Schedule gatherv_linear(const Problem& p) {
  return linear(p, p.send_count, placed_blocks(p.recv_counts, p.recv_displs));
}

Cost gather_linear_cost(int size, double bytes) {
  const double others = size - 1;
  return {
      .rounds = size > 1 ? 1.0 : 0.0, .bytes = bytes * others / size, .copied_bytes = bytes / size, .messages = others};
}

Schedule gather_binomial(const Problem& p) {
  Builder b;
  const Tree tree(p);
  if (tree.is_root()) b.copy(input(0, p.count), output(p.rank * p.count, p.count));
  // The blocks of a subtree lie in scratch in the tree's order, which the root turns into rank order as it receives.
  const bool is_leaf = tree.subtree(tree.place()) == 1;
  if (!tree.is_root() && !is_leaf) b.copy(input(0, p.count), scratch(0, p.count));
  for (int distance = 1; distance < tree.width() && tree.has_child(distance); distance *= 2) {
    const int n = tree.subtree(tree.place() + distance);
    const int child = tree.child(distance);
    const int before_wrap = std::min(n, p.size - child);
    if (!tree.is_root()) {
      b.recv(child, scratch(distance * p.count, n * p.count));
    } else {
      b.recv(child, output(child * p.count, before_wrap * p.count));
      b.recv(child, output(0, (n - before_wrap) * p.count));
    }
    b.end_round();
  }
  if (!tree.is_root()) {
    const int n = tree.subtree(tree.place());
    const int first = tree.parent() == p.root ? std::min(n, p.size - p.rank) : n;
    b.send(tree.parent(), is_leaf ? input(0, p.count) : scratch(0, first * p.count));
    if (!is_leaf) b.send(tree.parent(), scratch(first * p.count, (n - first) * p.count));
  }
  return b.finish(tree.is_root() || is_leaf ? 0 : tree.subtree(tree.place()) * p.count, true);
}

Cost gather_binomial_cost(int size, double bytes) {
  const double depth = ceil_log2(size);
  return {.rounds = depth, .bytes = bytes * (size - 1) / size, .copied_bytes = bytes / size, .messages = depth};
}

}  // namespace tutti::algorithms
