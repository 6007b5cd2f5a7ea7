// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/halving.hpp"

namespace tutti::schedules {
namespace {

/// The place of the rank that the root is folded to.
int place_of_root(const Problem& p) {
  Problem of_root = p;
  of_root.rank = p.root;
  return Fold(of_root).index();
}

/// A rank that is folded away hands its contribution over.
void hand_over(Builder& b, const Problem& p, const Slice& mine, const Slice& result) {
  b.send(p.rank - 1, mine);
  b.end_round();
  if (p.rank == p.root) b.recv(p.rank - 1, result);
}

/// Parts go back the way of the halvings, to the partner on the root's side.
void gather_parts(Builder& b, const Fold& fold, const Butterfly& butterfly, int root, std::vector<Halves>& taken,
                  const Slice& result) {
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const int partner = fold.rank_of(butterfly.partner(fold.index(), step));
    if (!butterfly.leads(fold.index(), root, step)) return b.send(partner, part_of(result, taken.back().kept));
    b.recv(partner, part_of(result, taken.back().given));
    b.end_round();
    taken.pop_back();
  }
}

Schedule halve_and_gather(const Problem& p, Distances distances) {
  Builder b;
  const Fold fold(p);
  // Only the root has an output.
  const Slice result = p.rank == p.root ? output(0, p.count) : scratch(p.count, p.count);
  const Slice received = scratch(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  if (!fold.stays()) {
    hand_over(b, p, mine, result);
    return b.finish(2 * p.count, true);
  }
  if (fold.is_paired()) {
    b.recv(p.rank + 1, received);
    b.reduce({mine, received}, result);
    b.end_round();
    mine = result;
  }
  const Butterfly butterfly(distances, fold.size());
  std::vector<Halves> taken = halve_and_combine(b, fold, butterfly, mine, received, result);
  const int root = place_of_root(p);
  gather_parts(b, fold, butterfly, root, taken, result);
  b.end_round();
  if (fold.index() == root && p.rank != p.root) b.send(p.root, mine);
  return b.finish(2 * p.count, true);
}

}  // namespace

Schedule reduce_rabenseifner(const Problem& p) { return halve_and_gather(p, Distances::doubling); }
Schedule reduce_bine_halving(const Problem& p) { return halve_and_gather(p, Distances::bine); }

Cost reduce_rabenseifner_cost(int size, double bytes) {
  const double steps = floor_log2(size);
  const double folds = floor_power(size) < size ? 1 : 0;
  const double part = bytes * (floor_power(size) - 1) / floor_power(size);
  return {.rounds = 2 * steps + folds,
          .bytes = 2 * part + folds * bytes,
          .reduced_bytes = 2 * (part + folds * bytes),
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = 2 * steps + folds};
}

}  // namespace tutti::schedules
