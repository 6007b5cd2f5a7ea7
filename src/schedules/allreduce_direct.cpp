// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {

Schedule allreduce_direct(const Problem& p) {
  Builder b;
  // Every block is the whole vector.
  exchange_and_combine(b, p, Blocks(p.size, Block{0, p.count}), output(0, p.count));
  return b.finish(p.size * p.count, true);
}

Cost allreduce_direct_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = size > 1 ? 1.0 : 0.0,
          .bytes = others * bytes,
          .reduced_bytes = size > 1 ? size * bytes : 0.0,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = others};
}

Schedule allreduce_scatter_allgather(const Problem& p) {
  Builder b;
  const Blocks blocks = even_blocks(p.count, p.size);
  const Block own = blocks[p.rank];
  exchange_and_combine(b, p, blocks, output(own));
  allgather_in_one_round(b, p, blocks, output(own));
  return b.finish(p.size * own.count, true);
}

Cost allreduce_scatter_allgather_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = size > 1 ? 2.0 : 0.0,
          .bytes = 2 * bytes * others / size,
          .reduced_bytes = size > 1 ? bytes : 0.0,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = 2 * others};
}

}  // namespace tutti::schedules
