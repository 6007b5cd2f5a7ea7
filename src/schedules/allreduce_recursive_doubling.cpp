// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/fold.hpp"

namespace tutti::schedules {

Schedule allreduce_recursive_doubling(const Problem& p) {
  Builder b;
  const Slice received = scratch(0, p.count);
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  const Fold fold(p);
  if (!fold.begin(b, mine, received, result)) return b.finish(p.count, true);
  for (int distance = 1; distance < fold.size(); distance *= 2) {
    const int partner = fold.rank_of(fold.index() ^ distance);
    b.send(partner, mine);
    b.recv(partner, received);
    // The lower ranks' operand on the left on both sides: all ranks get the same bits.
    b.reduce(partner < p.rank ? std::vector{received, mine} : std::vector{mine, received}, result);
    b.end_round();
    mine = result;
  }
  fold.end(b, result);
  return b.finish(p.count, true);
}

Cost allreduce_recursive_doubling_cost(int size, double bytes) {
  const double steps = floor_log2(size);
  const double folds = floor_power(size) < size ? 1 : 0;
  return {.rounds = steps + 2 * folds,
          .bytes = (steps + 2 * folds) * bytes,
          .reduced_bytes = 2 * (steps + folds) * bytes,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = steps + 2 * folds};
}

}  // namespace tutti::schedules
