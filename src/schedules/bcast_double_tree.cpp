// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/double_tree.hpp"

namespace tutti::schedules {

Schedule bcast_double_tree(const Problem& p) {
  Builder b;
  const DoubleTree trees(p, p.root);
  const DoubleTree::Node nodes[2] = {trees.node(0), trees.node(1)};
  const int chunks = DoubleTree::chunks(p.size, bytes_of(p), p.starts.through);
  const int steps = DoubleTree::depth(p.size) - 1 + chunks;
  for (int step = 0; step < steps; ++step) {
    for (int tree = 0; tree < 2; ++tree) {
      const DoubleTree::Node& node = nodes[tree];
      const Chunks half = DoubleTree::half(p, tree, chunks);
      const int taken = step - node.depth + 1;
      const int given = step - node.depth;
      if (node.parent != DoubleTree::none && half.contains(taken)) b.recv(node.parent, output(half[taken]));
      for (const int child : {node.left, node.right})
        if (child != DoubleTree::none && half.contains(given)) b.send(child, output(half[given]));
    }
    b.end_round();
  }
  return b.finish(0, true);
}

Cost bcast_double_tree_cost(int size, double bytes, double start) {
  if (size == 1) return {};
  const int chunks = DoubleTree::chunks(size, bytes, start);
  const double steps = DoubleTree::depth(size) - 1 + chunks;
  return {.rounds = steps, .bytes = steps * bytes / chunks, .messages = 2 * steps};
}

}  // namespace tutti::schedules
