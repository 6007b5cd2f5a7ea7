// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {

Schedule allreduce_reduce_bcast(const Problem& p) {
  Builder b;
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  const Tree tree(p, 0, 2);
  reduce_up(b, tree, 2, mine, result);
  bcast_down(b, tree, 2, result);
  return b.finish(p.count, true);
}

Cost allreduce_reduce_bcast_cost(int size, double bytes) {
  const double depth = ceil_log2(size);
  return {.rounds = 2 * depth,
          .bytes = 2 * depth * bytes,
          .reduced_bytes = 2 * depth * bytes,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = 2 * depth};
}

}  // namespace tutti::schedules
