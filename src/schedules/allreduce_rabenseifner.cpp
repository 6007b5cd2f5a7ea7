// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/fold.hpp"

namespace tutti::schedules {
namespace {

/// The part that a rank keeps and the part that it gives away at one halving.
struct Halves {
  Block kept;
  Block given;
};

Halves halve(const Block& range, bool keeps_lower) {
  const Block lower{range.offset, range.count - range.count / 2};
  const Block upper{range.offset + lower.count, range.count / 2};
  return keeps_lower ? Halves{lower, upper} : Halves{upper, lower};
}

Slice part_of(const Slice& whole, const Block& block) { return {whole.buffer, block.offset, block.count}; }

}  // namespace

Schedule allreduce_rabenseifner(const Problem& p) {
  Builder b;
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  const Fold fold(p);
  if (!fold.begin(b, mine, scratch(0, p.count), result)) return b.finish(p.count, true);

  // Nearest partner first: partial results are then always of adjacent ranks, and order is kept.
  Block range{0, p.count};
  std::vector<Halves> taken;
  for (int distance = 1; distance < fold.size(); distance *= 2) {
    const bool is_lower = (fold.index() & distance) == 0;
    const int partner = fold.rank_of(fold.index() ^ distance);
    const Halves halves = taken.emplace_back(halve(range, is_lower));
    const Slice kept = part_of(mine, halves.kept);
    const Slice received = scratch(0, halves.kept.count);
    b.send(partner, part_of(mine, halves.given));
    b.recv(partner, received);
    b.reduce(is_lower ? std::vector{kept, received} : std::vector{received, kept}, output(halves.kept));
    b.end_round();
    mine = result;
    range = halves.kept;
  }
  for (int distance = fold.size() / 2; distance > 0; distance /= 2) {
    const int partner = fold.rank_of(fold.index() ^ distance);
    b.send(partner, output(taken.back().kept));
    b.recv(partner, output(taken.back().given));
    b.end_round();
    taken.pop_back();
  }
  fold.end(b, result);
  return b.finish(p.count, true);
}

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
