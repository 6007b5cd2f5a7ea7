// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/fold.hpp"
#include "schedules/tree.hpp"

namespace tutti::schedules {
namespace {

/// After the round of a distance, a rank has heard of the radix * distance ranks up to and with itself.
Schedule disseminate(const Problem& p, int radix) {
  Builder b;
  for (int distance = 1; distance < p.size; distance *= radix) {
    for (int i = 1; i < radix && i * distance < p.size; ++i) {
      b.send_signal(wrap(p.rank + i * distance, p.size));
      b.recv_signal(wrap(p.rank - i * distance, p.size));
    }
    b.end_round();
  }
  return b.finish(0, true);
}

Cost cost(int size, int radix) {
  const RootDuty duty = root_duty(size, radix);
  return {.rounds = duty.levels, .messages = duty.children};
}

}  // namespace

Schedule barrier_dissemination(const Problem& p) { return disseminate(p, 2); }
Cost barrier_dissemination_cost(int size, double) { return cost(size, 2); }

Schedule barrier_dissemination4(const Problem& p) { return disseminate(p, 4); }
Cost barrier_dissemination4_cost(int size, double) { return cost(size, 4); }

Schedule barrier_recursive_doubling(const Problem& p) {
  Builder b;
  const Fold fold(p);
  if (!fold.stays()) {
    b.send_signal(p.rank - 1);
    b.end_round();
    b.recv_signal(p.rank - 1);
    return b.finish(0, true);
  }
  if (fold.is_paired()) b.recv_signal(p.rank + 1);
  b.end_round();
  for (int distance = 1; distance < fold.size(); distance *= 2) {
    const int partner = fold.rank_of(fold.index() ^ distance);
    b.send_signal(partner);
    b.recv_signal(partner);
    b.end_round();
  }
  if (fold.is_paired()) b.send_signal(p.rank + 1);
  return b.finish(0, true);
}

Cost barrier_recursive_doubling_cost(int size, double) {
  const double rounds = floor_log2(size) + (floor_power(size) < size ? 2 : 0);
  return {.rounds = rounds, .messages = rounds};
}

Schedule barrier_binomial(const Problem& p) {
  Builder b;
  int distance = 1;
  for (; distance < p.size && (p.rank & distance) == 0; distance *= 2) {
    if (p.rank + distance < p.size) b.recv_signal(p.rank + distance);
    b.end_round();
  }
  if (p.rank != 0) {
    b.send_signal(p.rank - distance);
    b.end_round();
    b.recv_signal(p.rank - distance);
    b.end_round();
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (p.rank + distance < p.size) b.send_signal(p.rank + distance);
    b.end_round();
  }
  return b.finish(0, true);
}

Cost barrier_binomial_cost(int size, double) {
  const double depth = ceil_log2(size);
  return {.rounds = 2 * depth, .messages = 2 * depth};
}

}  // namespace tutti::schedules
