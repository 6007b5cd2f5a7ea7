// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {
namespace {

/// In place, the output is the start of the input, so a block that overlaps it partly must not be combined into it.
bool is_alias_safe(const Block& own) { return own.offset == 0 || own.offset >= own.count; }

Schedule direct(const Problem& p, const Blocks& blocks) {
  Builder b;
  const Block own = blocks[p.rank];
  exchange_and_combine(b, p, blocks, output(0, own.count));
  return b.finish(p.size * own.count, is_alias_safe(own));
}

Schedule ring(const Problem& p, const Blocks& blocks) {
  Builder b;
  const Block own = blocks[p.rank];
  const std::size_t largest = largest_count(blocks);
  if (p.size == 1) b.copy(input(own), output(own));
  Slice mine = input(blocks[wrap(p.rank - 1, p.size)]);
  for (int step = 0; step + 1 < p.size; ++step) {
    const Block taken = blocks[wrap(p.rank - step - 2, p.size)];
    // Two slots in turn: one is sent while the other is received.
    const Slice received = scratch(step % 2 * largest, taken.count);
    const Slice sum = step + 2 == p.size ? output(0, own.count) : received;
    b.send(wrap(p.rank + 1, p.size), mine);
    b.recv(wrap(p.rank - 1, p.size), received);
    b.reduce({received, input(taken)}, sum);
    b.end_round();
    mine = sum;
  }
  return b.finish(2 * largest, is_alias_safe(own));
}

}  // namespace

Schedule reduce_scatter_block_direct(const Problem& p) { return direct(p, uniform_blocks(p.count, p.size)); }
Schedule reduce_scatter_direct(const Problem& p) { return direct(p, packed_blocks(p.recv_counts)); }

Cost reduce_scatter_direct_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = size > 1 ? 1.0 : 0.0,
          .bytes = bytes * others / size,
          .reduced_bytes = size > 1 ? bytes : 0.0,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = others};
}

Schedule reduce_scatter_block_ring(const Problem& p) { return ring(p, uniform_blocks(p.count, p.size)); }
Schedule reduce_scatter_ring(const Problem& p) { return ring(p, packed_blocks(p.recv_counts)); }

Cost reduce_scatter_ring_cost(int size, double bytes) {
  const double steps = size - 1;
  return {.rounds = steps,
          .bytes = bytes * steps / size,
          .reduced_bytes = 2 * bytes * steps / size,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = steps};
}

}  // namespace tutti::schedules
