// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/halving.hpp"

namespace tutti::schedules {
namespace {

Schedule halve_and_double(const Problem& p, Distances distances) {
  Builder b;
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  const Fold fold(p);
  if (!fold.begin(b, mine, scratch(0, p.count), result)) return b.finish(p.count, true);

  const Butterfly butterfly(distances, fold.size());
  std::vector<Halves> taken = halve_and_combine(b, fold, butterfly, mine, scratch(0, p.count), result);
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const int partner = fold.rank_of(butterfly.partner(fold.index(), step));
    b.send(partner, output(taken.back().kept));
    b.recv(partner, output(taken.back().given));
    b.end_round();
    taken.pop_back();
  }
  fold.end(b, result);
  return b.finish(p.count, true);
}

}  // namespace

Schedule allreduce_rabenseifner(const Problem& p) { return halve_and_double(p, Distances::doubling); }
Schedule allreduce_bine_halving(const Problem& p) { return halve_and_double(p, Distances::bine); }

Cost allreduce_rabenseifner_cost(int size, double bytes) {
  const double steps = floor_log2(size);
  const double folds = floor_power(size) < size ? 1 : 0;
  const double part = bytes * (floor_power(size) - 1) / floor_power(size);
  return {.rounds = 2 * (steps + folds),
          .bytes = 2 * part + 2 * folds * bytes,
          .reduced_bytes = 2 * (part + folds * bytes),
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = 2 * (steps + folds)};
}

}  // namespace tutti::schedules
