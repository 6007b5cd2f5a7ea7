// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {
namespace {

/// `count` places at one end of a run.
Run at_end(const Run& run, int count, bool is_upper, int size) {
  return {is_upper ? wrap(run.first + run.count - count, size) : run.first, count};
}

}  // namespace

Schedule allgather_bine_doubling(const Problem& p) {
  Builder b;
  const auto offset = equal_offsets(p);
  b.copy(input(0, p.count), output(p.rank * p.count, p.count));
  b.end_round();
  for (int step = 0; step < ceil_log2(p.size); ++step) {
    const int partner = bine_partner(p.rank, step, p.size);
    const bool is_above = is_bine_partner_above(p.rank, step);
    const int n = std::min(1 << step, p.size - (1 << step));
    // The partner's run begins where this rank's ends. In the last step the far ends of the two may meet.
    const Run given = at_end(bine_run(p.rank, step, p.size), n, is_above, p.size);
    const Run taken = at_end(bine_run(partner, step, p.size), n, !is_above, p.size);
    for (const Block& piece : pieces_of(given, p.size, offset)) b.send(partner, output(piece));
    for (const Block& piece : pieces_of(taken, p.size, offset)) b.recv(partner, output(piece));
    b.end_round();
  }
  return b.finish(0, true);
}

/// Of more than two blocks, some rank's begin before rank 0: two pieces.
Cost allgather_bine_doubling_cost(int size, double bytes) {
  Cost cost{.bytes = bytes * (size - 1) / size, .copied_bytes = bytes / size};
  for (int known = 1; known < size; known *= 2) {
    cost.rounds += 1;
    cost.messages += std::min(known, size - known) > 2 ? 2 : 1;
  }
  return cost;
}

}  // namespace tutti::schedules
