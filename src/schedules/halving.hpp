// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/butterfly.hpp"
#include "schedules/fold.hpp"

namespace tutti::schedules {

/// The part that a rank keeps and the part that it gives away at one halving.
struct Halves {
  Block kept;
  Block given;
};

[[nodiscard]] inline Halves halve(const Block& range, bool keeps_lower) {
  const Block lower{range.offset, range.count - range.count / 2};
  const Block upper{range.offset + lower.count, range.count / 2};
  return keeps_lower ? Halves{lower, upper} : Halves{upper, lower};
}

/// Halves the vector with the partners of a butterfly, the nearest first, and combines what is kept: a rank ends with
/// the sum of its last part, in `result`. Where distances double, partial results are always of adjacent ranks, and
/// order is kept. `mine` becomes `result` if anything was combined. Gives the halves in their order.
inline std::vector<Halves> halve_and_combine(Builder& b, const Fold& fold, const Butterfly& butterfly, Slice& mine,
                                             const Slice& received, const Slice& result) {
  Block range{0, result.count};
  std::vector<Halves> taken;
  for (int step = 0; step < butterfly.steps(); ++step) {
    const bool is_lower = butterfly.is_lower(fold.index(), step);
    const int partner = fold.rank_of(butterfly.partner(fold.index(), step));
    const Halves halves = taken.emplace_back(halve(range, is_lower));
    const Slice kept = part_of(mine, halves.kept);
    const Slice other = part_of(received, 0, halves.kept.count);
    b.send(partner, part_of(mine, halves.given));
    b.recv(partner, other);
    b.reduce(is_lower ? std::vector{kept, other} : std::vector{other, kept}, part_of(result, halves.kept));
    b.end_round();
    mine = result;
    range = halves.kept;
  }
  return taken;
}

}  // namespace tutti::schedules
