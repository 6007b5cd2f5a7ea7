// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {

Schedule allgather_gather_bcast(const Problem& p) {
  Builder b;
  const Tree tree(p, 0, 2);
  const Slice own = output(p.rank * p.count, p.count);
  b.copy(input(0, p.count), own);
  b.end_round();
  // The root is rank 0, so that the blocks of a subtree lie one after the other in the output.
  for (int distance = 1; distance < tree.width() && tree.has_child(distance); distance *= 2) {
    const int child = tree.child(distance);
    b.recv(child, output(child * p.count, tree.subtree(child) * p.count));
    b.end_round();
  }
  if (!tree.is_root()) b.send(tree.parent(), output(own.offset, tree.subtree(p.rank) * p.count));
  b.end_round();
  bcast_down(b, tree, 2, output(0, p.size * p.count));
  return b.finish(0, true);
}

Cost allgather_gather_bcast_cost(int size, double bytes) {
  const double depth = ceil_log2(size);
  return {.rounds = 2 * depth,
          .bytes = bytes * (size - 1) / size + depth * bytes,
          .copied_bytes = bytes / size,
          .messages = 2 * depth};
}

}  // namespace tutti::schedules
