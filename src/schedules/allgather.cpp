// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {
namespace {

Schedule ring(const Problem& p, const Blocks& blocks) {
  Builder b;
  b.copy(input(0, blocks[p.rank].count), output(blocks[p.rank]));
  b.end_round();
  allgather_by_ring(b, p, blocks, p.rank);
  return b.finish(0, true);
}

Schedule direct(const Problem& p, const Blocks& blocks) {
  Builder b;
  const Slice own = input(0, blocks[p.rank].count);
  b.copy(own, output(blocks[p.rank]));
  allgather_in_one_round(b, p, blocks, own);
  return b.finish(0, true);
}

}  // namespace

Schedule allgather_ring(const Problem& p) { return ring(p, uniform_blocks(p.count, p.size)); }
Schedule allgatherv_ring(const Problem& p) { return ring(p, placed_blocks(p.recv_counts, p.recv_displs)); }

Cost allgather_ring_cost(int size, double bytes) {
  const double steps = size - 1;
  return {.rounds = steps, .bytes = bytes * steps / size, .copied_bytes = bytes / size, .messages = steps};
}

Schedule allgather_direct(const Problem& p) { return direct(p, uniform_blocks(p.count, p.size)); }
Schedule allgatherv_direct(const Problem& p) { return direct(p, placed_blocks(p.recv_counts, p.recv_displs)); }

Cost allgather_direct_cost(int size, double bytes) {
  const double others = size - 1;
  return {
      .rounds = size > 1 ? 1.0 : 0.0, .bytes = bytes * others / size, .copied_bytes = bytes / size, .messages = others};
}

}  // namespace tutti::schedules
