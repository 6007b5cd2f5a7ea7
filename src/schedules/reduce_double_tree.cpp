// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/double_tree.hpp"

namespace tutti::schedules {

Schedule reduce_double_tree(const Problem& p) {
  Builder b;
  if (p.size == 1) b.copy(input(0, p.count), output(0, p.count));
  const DoubleTree trees(p, p.root);
  const int depth = DoubleTree::depth(p.size);
  const int chunks = DoubleTree::chunks(p.size, bytes_of(p), p.starts.through);
  const std::size_t slot = DoubleTree::half(p, 0, chunks)[0].count;
  for (int step = 0; step < depth - 1 + chunks; ++step) {
    for (int tree = 0; tree < 2; ++tree) {
      const DoubleTree::Node node = trees.node(tree);
      const Chunks half = DoubleTree::half(p, tree, chunks);
      // Three slots per tree: arrivals from the left, arrivals from the right, and the sum, which is sent a step later.
      const auto slice = [&](int i, std::size_t count) { return scratch((3 * tree + i) * slot, count); };
      const int given = step - (depth - node.depth);
      if (node.parent != DoubleTree::none && half.contains(given))
        b.send(node.parent, node.is_leaf() ? input(half[given]) : slice(2, half[given].count));
      const int taken = given + 1;
      if (node.is_leaf() || !half.contains(taken)) continue;
      const Block block = half[taken];
      std::vector<Slice> parts;
      if (node.left != DoubleTree::none) b.recv(node.left, parts.emplace_back(slice(0, block.count)));
      parts.push_back(input(block));
      if (node.right != DoubleTree::none) b.recv(node.right, parts.emplace_back(slice(1, block.count)));
      b.reduce(std::move(parts), p.rank == p.root ? output(block) : slice(2, block.count));
    }
    b.end_round();
  }
  return b.finish(6 * slot, true);
}

Cost reduce_double_tree_cost(int size, double bytes, double start) {
  if (size == 1) return {.copied_bytes = bytes};
  const int chunks = DoubleTree::chunks(size, bytes, start);
  const double steps = DoubleTree::depth(size) - 1 + chunks;
  return {.rounds = steps,
          .bytes = steps * bytes / chunks,
          .reduced_bytes = 2 * steps * bytes / chunks,
          .messages = 2 * steps};
}

}  // namespace tutti::schedules
