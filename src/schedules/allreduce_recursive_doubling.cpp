// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/butterfly.hpp"
#include "schedules/fold.hpp"

namespace tutti::schedules {
namespace {

Schedule exchange(const Problem& p, Distances distances) {
  Builder b;
  const Slice received = scratch(0, p.count);
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  const Fold fold(p);
  if (!fold.begin(b, mine, received, result)) return b.finish(p.count, true);
  const Butterfly butterfly(distances, fold.size());
  for (int i = 0; i < butterfly.steps(); ++i) {
    // Doubled distances keep rank order if the nearest partner comes first. With Bine's the farthest does: otherwise
    // each rank would associate in its own way.
    const int step = distances == Distances::bine ? butterfly.steps() - 1 - i : i;
    const int partner = fold.rank_of(butterfly.partner(fold.index(), step));
    b.send(partner, mine);
    b.recv(partner, received);
    // The same operand on the left on both sides: all ranks get the same bits.
    const bool is_lower = butterfly.is_lower(fold.index(), step);
    b.reduce(is_lower ? std::vector{mine, received} : std::vector{received, mine}, result);
    b.end_round();
    mine = result;
  }
  fold.end(b, result);
  return b.finish(p.count, true);
}

}  // namespace

Schedule allreduce_recursive_doubling(const Problem& p) { return exchange(p, Distances::doubling); }
Schedule allreduce_bine_doubling(const Problem& p) { return exchange(p, Distances::bine); }

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
