// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {
namespace {

/// After the round of a distance each rank has its own block and those of the ranks below it at all multiples of the
/// distance, round rank 0.
Schedule halve_distances(const Problem& p, const Blocks& blocks) {
  Builder b;
  b.copy(input(0, blocks[p.rank].count), output(blocks[p.rank]));
  b.end_round();
  for (int distance = 1 << ceil_log2(p.size) >> 1; distance > 0; distance /= 2) {
    const auto block = [&](int multiple) { return output(blocks[wrap(p.rank - multiple * distance, p.size)]); };
    const int known = (p.size + distance - 1) / distance;
    for (int i = 1; i < known; i += 2) {
      b.send(wrap(p.rank + distance, p.size), block(i - 1));
      b.recv(wrap(p.rank - distance, p.size), block(i));
    }
    b.end_round();
  }
  return b.finish(0, true);
}

}  // namespace

Schedule allgather_sparbit(const Problem& p) { return halve_distances(p, uniform_blocks(p.count, p.size)); }
Schedule allgatherv_sparbit(const Problem& p) {
  return halve_distances(p, placed_blocks(p.recv_counts, p.recv_displs));
}

Cost allgather_sparbit_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = static_cast<double>(ceil_log2(size)),
          .bytes = bytes * others / size,
          .copied_bytes = bytes / size,
          .messages = others};
}

}  // namespace tutti::schedules
