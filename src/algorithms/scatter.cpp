// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithms.hpp"
#include "algorithms/tree.hpp"

namespace tutti::algorithms {
namespace {

Schedule linear(const Problem& p, std::size_t own, const Blocks& blocks) {
  Builder b;
  if (p.rank != p.root) {
    b.recv(p.root, output(0, own));
    return b.finish(0, true);
  }
  for (int i = 0; i < p.size; ++i)
    if (i != p.rank) b.send(i, input(blocks[i]));
  b.copy(input(blocks[p.rank]), output(0, blocks[p.rank].count));
  return b.finish(0, true);
}

}  // namespace

Schedule scatter_linear(const Problem& p) { return linear(p, p.count, uniform_blocks(p.count, p.size)); }
Schedule scatterv_linear(const Problem& p) {
  return linear(p, p.recv_count, placed_blocks(p.send_counts, p.send_displs));
}

Cost scatter_linear_cost(int size, double bytes) {
  const double others = size - 1;
  return {
      .rounds = size > 1 ? 1.0 : 0.0, .bytes = bytes * others / size, .copied_bytes = bytes / size, .messages = others};
}

Schedule scatter_binomial(const Problem& p) {
  Builder b;
  const Tree tree(p);
  const int n = tree.subtree(tree.place());
  const bool is_leaf = n == 1;
  // Below the root, the blocks of a subtree lie in scratch in the tree's order; from the root they come in rank order,
  // in two messages where that order starts again at rank 0.
  if (!tree.is_root()) {
    const int first = tree.parent() == p.root ? std::min(n, p.size - p.rank) : n;
    b.recv(tree.parent(), is_leaf ? output(0, p.count) : scratch(0, first * p.count));
    if (!is_leaf) b.recv(tree.parent(), scratch(first * p.count, (n - first) * p.count));
    b.end_round();
  }
  for (int distance = tree.width() / 2; distance > 0; distance /= 2) {
    if (!tree.has_child(distance)) continue;
    const int below = tree.subtree(tree.place() + distance);
    const int child = tree.child(distance);
    const int before_wrap = std::min(below, p.size - child);
    if (!tree.is_root()) {
      b.send(child, scratch(distance * p.count, below * p.count));
    } else {
      b.send(child, input(child * p.count, before_wrap * p.count));
      b.send(child, input(0, (below - before_wrap) * p.count));
    }
    b.end_round();
  }
  if (tree.is_root()) b.copy(input(p.rank * p.count, p.count), output(0, p.count));
  if (!tree.is_root() && !is_leaf) b.copy(scratch(0, p.count), output(0, p.count));
  return b.finish(tree.is_root() || is_leaf ? 0 : n * p.count, true);
}

Cost scatter_binomial_cost(int size, double bytes) {
  const double depth = ceil_log2(size);
  return {.rounds = depth, .bytes = bytes * (size - 1) / size, .copied_bytes = bytes / size, .messages = depth};
}

}  // namespace tutti::algorithms
