// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithms.hpp"
#include "algorithms/phases.hpp"

namespace tutti::algorithms {
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

Schedule allgather_bruck(const Problem& p) {
  Builder b;
  // Scratch has the blocks from this rank's own on, upwards.
  b.copy(input(0, p.count), scratch(0, p.count));
  b.end_round();
  for (int distance = 1; distance < p.size; distance *= 2) {
    const int n = std::min(distance, p.size - distance);
    b.send(wrap(p.rank - distance, p.size), scratch(0, n * p.count));
    b.recv(wrap(p.rank + distance, p.size), scratch(distance * p.count, n * p.count));
    b.end_round();
  }
  const int upper = p.size - p.rank;
  b.copy(scratch(0, upper * p.count), output(p.rank * p.count, upper * p.count));
  b.copy(scratch(upper * p.count, p.rank * p.count), output(0, p.rank * p.count));
  return b.finish(p.size * p.count, true);
}

Cost allgather_bruck_cost(int size, double bytes) {
  const double steps = ceil_log2(size);
  return {.rounds = steps, .bytes = bytes * (size - 1) / size, .copied_bytes = bytes + bytes / size, .messages = steps};
}

}  // namespace tutti::algorithms
