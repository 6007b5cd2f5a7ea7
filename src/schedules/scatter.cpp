// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {
namespace {

Schedule linear(const Problem& p, std::size_t own, const Blocks& blocks) {
  Builder b;
  if (p.rank != p.root) {
    b.recv(p.root, output(0, own));
    return b.finish(0, true);
  }
  for (int i = 0; i < p.size; ++i)
    if (i != p.rank) b.send(i, input(blocks[i]));
  b.copy(input(blocks[p.rank]), output(0, blocks[p.rank].count));
  return b.finish(0, true);
}

}  // namespace

Schedule scatter_linear(const Problem& p) { return linear(p, p.count, uniform_blocks(p.count, p.size)); }
Schedule scatterv_linear(const Problem& p) {
  return linear(p, p.recv_count, placed_blocks(p.send_counts, p.send_displs));
}

Cost scatter_linear_cost(int size, double bytes) {
  const double others = size - 1;
  return {
      .rounds = size > 1 ? 1.0 : 0.0, .bytes = bytes * others / size, .copied_bytes = bytes / size, .messages = others};
}

}  // namespace tutti::schedules
