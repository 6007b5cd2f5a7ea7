// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {
namespace {

/// Reduces to rank 0, whatever the root, so that places are in rank order.
Schedule up(const Problem& p, int radix) {
  Builder b;
  const bool is_root = p.rank == p.root;
  const Slice result = output(0, p.count);
  Slice mine = input(0, p.count);
  if (p.size == 1) b.copy(mine, result);
  // Only the root has an output.
  const Slice partial = is_root ? result : scratch((radix - 1) * p.count, p.count);
  reduce_up(b, Tree(p, 0, radix), radix, mine, partial);
  if (p.root != 0) {
    if (p.rank == 0) b.send(p.root, mine);
    if (is_root) b.recv(0, result);
  }
  return b.finish(radix * p.count, true);
}

Cost reduce_cost(int size, double bytes, int radix) {
  const RootDuty duty = root_duty(size, radix);
  return {.rounds = duty.levels,
          .bytes = duty.children * bytes,
          .reduced_bytes = (duty.children + duty.levels) * bytes,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = duty.children};
}

}  // namespace

Schedule reduce_binomial(const Problem& p) { return up(p, 2); }
Cost reduce_binomial_cost(int size, double bytes) { return reduce_cost(size, bytes, 2); }

Schedule reduce_knomial(const Problem& p) { return up(p, 4); }
Cost reduce_knomial_cost(int size, double bytes) { return reduce_cost(size, bytes, 4); }

}  // namespace tutti::schedules
