// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {
namespace {

Schedule linear(const Problem& p, std::size_t own, const Blocks& blocks) {
  Builder b;
  if (p.rank != p.root) {
    b.send(p.root, input(0, own));
    return b.finish(0, true);
  }
  for (int i = 0; i < p.size; ++i)
    if (i != p.rank) b.recv(i, output(blocks[i]));
  b.copy(input(0, blocks[p.rank].count), output(blocks[p.rank]));
  return b.finish(0, true);
}

}  // namespace

Schedule gather_linear(const Problem& p) { return linear(p, p.count, uniform_blocks(p.count, p.size)); }
Schedule gatherv_linear(const Problem& p) {
  return linear(p, p.send_count, placed_blocks(p.recv_counts, p.recv_displs));
}

Cost gather_linear_cost(int size, double bytes) {
  const double others = size - 1;
  return {
      .rounds = size > 1 ? 1.0 : 0.0, .bytes = bytes * others / size, .copied_bytes = bytes / size, .messages = others};
}

}  // namespace tutti::schedules
