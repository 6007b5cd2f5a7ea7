// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {
namespace {

enum class Pace { one_round, one_partner_a_round };

Schedule exchange(const Problem& p, const Blocks& from, const Blocks& to, Pace pace) {
  Builder b;
  b.copy(input(from[p.rank]), output(to[p.rank]));
  for (int step = 1; step < p.size; ++step) {
    const int target = wrap(p.rank + step, p.size);
    const int source = wrap(p.rank - step, p.size);
    b.send(target, input(from[target]));
    b.recv(source, output(to[source]));
    if (pace == Pace::one_partner_a_round) b.end_round();
  }
  return b.finish(0, false);
}

Schedule uniform(const Problem& p, Pace pace) {
  const Blocks blocks = uniform_blocks(p.count, p.size);
  return exchange(p, blocks, blocks, pace);
}

Schedule irregular(const Problem& p, Pace pace) {
  return exchange(p, placed_blocks(p.send_counts, p.send_displs), placed_blocks(p.recv_counts, p.recv_displs), pace);
}

}  // namespace

Schedule alltoall_pairwise(const Problem& p) { return uniform(p, Pace::one_partner_a_round); }
Schedule alltoallv_pairwise(const Problem& p) { return irregular(p, Pace::one_partner_a_round); }

Cost alltoall_pairwise_cost(int size, double bytes) {
  const double steps = size - 1;
  return {.rounds = steps, .bytes = bytes * steps / size, .copied_bytes = bytes / size, .messages = steps};
}

Schedule alltoall_direct(const Problem& p) { return uniform(p, Pace::one_round); }
Schedule alltoallv_direct(const Problem& p) { return irregular(p, Pace::one_round); }

Cost alltoall_direct_cost(int size, double bytes) {
  const double others = size - 1;
  return {
      .rounds = size > 1 ? 1.0 : 0.0, .bytes = bytes * others / size, .copied_bytes = bytes / size, .messages = others};
}

}  // namespace tutti::schedules
