// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {

Schedule allgather_neighbor_exchange(const Problem& p) {
  Builder b;
  // An even rank and the odd one above it are a pair. Towards the other rank of the pair and away from it by turns.
  const int side = p.rank % 2 == 0 ? 1 : -1;
  const int pair = p.rank / 2 * 2;
  const int neighbors[2] = {wrap(p.rank + side, p.size), wrap(p.rank - side, p.size)};
  const Slice own = output(p.rank * p.count, p.count);
  b.copy(input(0, p.count), own);
  b.end_round();
  b.send(neighbors[0], own);
  b.recv(neighbors[0], output(neighbors[0] * p.count, p.count));
  b.end_round();
  int known = pair;  // the pair of blocks that came last
  int newest[2] = {pair, pair};
  for (int step = 1; step < p.size / 2; ++step) {
    const int way = step % 2;
    newest[way] = wrap(newest[way] + (way == 0 ? 2 : -2) * side, p.size);
    b.send(neighbors[way], output(known * p.count, 2 * p.count));
    b.recv(neighbors[way], output(newest[way] * p.count, 2 * p.count));
    b.end_round();
    known = newest[way];
  }
  return b.finish(0, true);
}

Cost allgather_neighbor_exchange_cost(int size, double bytes) {
  const double steps = size / 2;
  return {.rounds = steps, .bytes = bytes * (size - 1) / size, .copied_bytes = bytes / size, .messages = steps};
}

}  // namespace tutti::schedules
