// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {

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

Schedule allgatherv_bruck(const Problem& p) {
  Builder b;
  // Block i of scratch is that of the rank i above this one; at[i] is where it begins.
  std::vector<std::size_t> at{0};
  for (int i = 0; i < p.size; ++i) at.push_back(at.back() + p.recv_counts[wrap(p.rank + i, p.size)]);
  const auto first = [&at](int n) { return scratch(0, at[n]); };
  b.copy(input(0, at[1]), first(1));
  b.end_round();
  for (int distance = 1; distance < p.size; distance *= 2) {
    const int n = std::min(distance, p.size - distance);
    b.send(wrap(p.rank - distance, p.size), first(n));
    b.recv(wrap(p.rank + distance, p.size), scratch(at[distance], at[distance + n] - at[distance]));
    b.end_round();
  }
  for (int i = 0; i < p.size; ++i) {
    const int from = wrap(p.rank + i, p.size);
    b.copy(scratch(at[i], p.recv_counts[from]), output(p.recv_displs[from], p.recv_counts[from]));
  }
  return b.finish(at.back(), true);
}

Cost allgather_bruck_cost(int size, double bytes) {
  const double steps = ceil_log2(size);
  return {.rounds = steps, .bytes = bytes * (size - 1) / size, .copied_bytes = bytes + bytes / size, .messages = steps};
}

}  // namespace tutti::schedules
