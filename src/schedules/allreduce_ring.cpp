// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {

Schedule allreduce_ring(const Problem& p) {
  Builder b;
  const Blocks blocks = even_blocks(p.count, p.size);
  const int next = wrap(p.rank + 1, p.size);
  if (p.size == 1) b.copy(input(0, p.count), output(0, p.count));
  for (int step = 0; step + 1 < p.size; ++step) {
    const Block given = blocks[wrap(p.rank - step, p.size)];
    const Block taken = blocks[wrap(p.rank - step - 1, p.size)];
    const Slice received = scratch(0, taken.count);
    b.send(next, step == 0 ? input(given) : output(given));
    b.recv(wrap(p.rank - 1, p.size), received);
    b.reduce({received, input(taken)}, output(taken));
    b.end_round();
  }
  allgather_by_ring(b, p, blocks, next);
  return b.finish(largest_count(blocks), true);
}

Cost allreduce_ring_cost(int size, double bytes) {
  const double steps = size - 1;
  return {.rounds = 2 * steps,
          .bytes = 2 * bytes * steps / size,
          .reduced_bytes = 2 * bytes * steps / size,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = 2 * steps};
}

}  // namespace tutti::schedules
