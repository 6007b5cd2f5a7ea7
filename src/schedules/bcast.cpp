// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {
Schedule bcast_linear(const Problem& p) {
  Builder b;
  if (p.rank != p.root)
    b.recv(p.root, output(0, p.count));
  else
    for (int i = 1; i < p.size; ++i) b.send(wrap(p.root + i, p.size), output(0, p.count));
  return b.finish(0, true);
}

Cost bcast_linear_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = size > 1 ? 1.0 : 0.0, .bytes = others * bytes, .messages = others};
}

Schedule bcast_scatter_allgather(const Problem& p) {
  Builder b;
  const Blocks blocks = even_blocks(p.count, p.size);
  const Tree tree(p);
  const int place = tree.place();
  scatter_down(b, tree, blocks);
  // A place has the blocks of its subtree from the scatter: the ring leaves those out.
  const auto needs = [&tree](int who, int block) { return block < who || block >= who + tree.subtree(who); };
  const int next = wrap(place + 1, p.size);
  for (int step = 0; step + 1 < p.size; ++step) {
    const int given = wrap(place - step, p.size);
    const int taken = wrap(place - step - 1, p.size);
    if (needs(next, given)) b.send(tree.rank_of(next), output(blocks[given]));
    if (needs(place, taken)) b.recv(wrap(p.rank - 1, p.size), output(blocks[taken]));
    b.end_round();
  }
  return b.finish(0, true);
}

Cost bcast_scatter_allgather_cost(int size, double bytes) {
  const double rounds = ceil_log2(size) + size - 1;
  return {.rounds = rounds, .bytes = 2 * bytes * (size - 1) / size, .messages = rounds};
}

}  // namespace tutti::schedules
