// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithms.hpp"
#include "algorithms/builder.hpp"

namespace tutti::algorithms {

Schedule reduce_binomial(const Problem& p) {
  Builder b;
  const bool is_root = p.rank == p.root;
  const Slice all = input(0, p.count);
  const Slice received = scratch(0, p.count);
  const Slice result = output(0, p.count);
  if (p.size == 1) b.copy(all, result);
  // Only the root has an output.
  const Slice partial = is_root ? result : scratch(p.count, p.count);
  Slice mine = all;
  int distance = 1;
  for (; distance < p.size && (p.rank & distance) == 0; distance *= 2) {
    if (p.rank + distance >= p.size) continue;
    b.recv(p.rank + distance, received);
    b.reduce({mine, received}, partial);
    b.end_round();
    mine = partial;
  }
  if (p.rank != 0) b.send(p.rank - distance, mine);
  b.end_round();
  if (p.root != 0) {
    if (p.rank == 0) b.send(p.root, mine);
    if (is_root) b.recv(0, result);
  }
  return b.finish(2 * p.count, true);
}

Cost reduce_binomial_cost(int size, double bytes) {
  const double depth = ceil_log2(size);
  return {.rounds = depth,
          .bytes = depth * bytes,
          .reduced_bytes = 2 * depth * bytes,
          .copied_bytes = size == 1 ? bytes : 0.0,
          .messages = depth};
}

}  // namespace tutti::algorithms
