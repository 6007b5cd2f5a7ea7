// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {

Schedule bcast_scatter_doubling(const Problem& p) {
  Builder b;
  const Blocks blocks = even_blocks(p.count, p.size);
  const Tree tree(p);
  scatter_down(b, tree, blocks);
  const int place = tree.place();
  for (int known = 1; known < p.size; known *= 2) {
    const int partner = tree.rank_of(place ^ known);
    const int pair = place & ~(2 * known - 1);  // the first place of the blocks that both know afterwards
    const Slice lower = output(span_of(blocks, pair, known));
    const Slice upper = output(span_of(blocks, pair + known, known));
    const bool is_lower = (place & known) == 0;
    // The lower one of the first pair has all blocks of both from the scatter.
    if (is_lower) {
      b.send(partner, lower);
      if (place != pair) b.recv(partner, upper);
    } else {
      if (place != pair + known) b.send(partner, upper);
      b.recv(partner, lower);
    }
    b.end_round();
  }
  return b.finish(0, true);
}

Cost bcast_scatter_doubling_cost(int size, double bytes) {
  const double rounds = 2 * ceil_log2(size);
  return {.rounds = rounds, .bytes = 2 * bytes * (size - 1) / size, .messages = rounds};
}

}  // namespace tutti::schedules
