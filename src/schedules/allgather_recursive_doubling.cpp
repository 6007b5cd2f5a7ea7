// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {

Schedule allgather_recursive_doubling(const Problem& p) {
  Builder b;
  b.copy(input(0, p.count), output(p.rank * p.count, p.count));
  b.end_round();
  for (int distance = 1; distance < p.size; distance *= 2) {
    const int partner = p.rank ^ distance;
    const auto group_of = [&](int rank) { return output(rank / distance * distance * p.count, distance * p.count); };
    b.send(partner, group_of(p.rank));
    b.recv(partner, group_of(partner));
    b.end_round();
  }
  return b.finish(0, true);
}

Cost allgather_recursive_doubling_cost(int size, double bytes) {
  const double steps = ceil_log2(size);
  return {.rounds = steps, .bytes = bytes * (size - 1) / size, .copied_bytes = bytes / size, .messages = steps};
}

}  // namespace tutti::schedules
