// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {
namespace {

Schedule down(const Problem& p, int radix) {
  Builder b;
  bcast_down(b, Tree(p, radix), radix, output(0, p.count));
  return b.finish(0, true);
}

Cost bcast_cost(int size, double bytes, int radix) {
  const RootDuty duty = root_duty(size, radix);
  return {.rounds = duty.levels, .bytes = duty.children * bytes, .messages = duty.children};
}

}  // namespace

Schedule bcast_binomial(const Problem& p) { return down(p, 2); }
Cost bcast_binomial_cost(int size, double bytes) { return bcast_cost(size, bytes, 2); }

Schedule bcast_knomial(const Problem& p) { return down(p, 4); }
Cost bcast_knomial_cost(int size, double bytes) { return bcast_cost(size, bytes, 4); }

}  // namespace tutti::schedules
