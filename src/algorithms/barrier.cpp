// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithms.hpp"
#include "algorithms/builder.hpp"

namespace tutti::algorithms {

Schedule barrier_dissemination(const Problem& p) {
  Builder b;
  for (int distance = 1; distance < p.size; distance *= 2) {
    b.send_signal(wrap(p.rank + distance, p.size));
    b.recv_signal(wrap(p.rank - distance, p.size));
    b.end_round();
  }
  return b.finish(0, true);
}

Cost barrier_dissemination_cost(int size, double) {
  const double rounds = ceil_log2(size);
  return {.rounds = rounds, .messages = rounds};
}

Schedule barrier_binomial(const Problem& p) {
  Builder b;
  int distance = 1;
  for (; distance < p.size && (p.rank & distance) == 0; distance *= 2) {
    if (p.rank + distance < p.size) b.recv_signal(p.rank + distance);
    b.end_round();
  }
  if (p.rank != 0) {
    b.send_signal(p.rank - distance);
    b.end_round();
    b.recv_signal(p.rank - distance);
    b.end_round();
  }
  for (distance /= 2; distance > 0; distance /= 2) {
    if (p.rank + distance < p.size) b.send_signal(p.rank + distance);
    b.end_round();
  }
  return b.finish(0, true);
}

Cost barrier_binomial_cost(int size, double) {
  const double depth = ceil_log2(size);
  return {.rounds = 2 * depth, .messages = depth};
}

}  // namespace tutti::algorithms
