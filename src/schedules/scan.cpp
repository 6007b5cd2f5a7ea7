// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {

Schedule scan_linear(const Problem& p) {
  Builder b;
  const Slice mine = input(0, p.count);
  const Slice received = scratch(0, p.count);
  const Slice result = output(0, p.count);
  if (p.rank == 0) {
    b.copy(mine, result);
  } else {
    b.recv(p.rank - 1, received);
    b.reduce({received, mine}, result);
  }
  b.end_round();
  if (p.rank + 1 < p.size) b.send(p.rank + 1, result);
  return b.finish(p.count, true);
}

Cost scan_linear_cost(int size, double bytes) {
  const double hops = size - 1;
  // The last rank waits for the whole chain; rank 0 copies.
  return {.rounds = hops,
          .bytes = hops * bytes,
          .reduced_bytes = 2 * hops * bytes,
          .copied_bytes = bytes,
          .messages = hops};
}

Schedule scan_recursive_doubling(const Problem& p) {
  Builder b;
  const Slice received = scratch(0, p.count);
  const Slice result = output(0, p.count);
  Slice window = input(0, p.count);
  if (p.rank == 0) b.copy(window, result);
  b.end_round();
  for (int distance = 1; distance < p.size; distance *= 2) {
    if (p.rank + distance < p.size) b.send(p.rank + distance, window);
    if (p.rank >= distance) {
      b.recv(p.rank - distance, received);
      b.reduce({received, window}, result);
      window = result;
    }
    b.end_round();
  }
  return b.finish(p.count, true);
}

Cost scan_recursive_doubling_cost(int size, double bytes) {
  const double steps = ceil_log2(size);
  return {.rounds = steps,
          .bytes = steps * bytes,
          .reduced_bytes = 2 * steps * bytes,
          .copied_bytes = bytes,
          .messages = steps};
}

Schedule scan_direct(const Problem& p) {
  Builder b;
  std::vector<Slice> parts;
  for (int i = 0; i < p.rank; ++i) {
    parts.push_back(scratch(i * p.count, p.count));
    b.recv(i, parts.back());
  }
  parts.push_back(input(0, p.count));
  for (int i = p.rank + 1; i < p.size; ++i) b.send(i, parts.back());
  b.reduce(std::move(parts), output(0, p.count));
  return b.finish(p.rank * p.count, true);
}

Cost scan_direct_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = size > 1 ? 1.0 : 0.0,
          .bytes = others * bytes,
          .reduced_bytes = size > 1 ? size * bytes : 0.0,
          .copied_bytes = bytes,
          .messages = others};
}

}  // namespace tutti::schedules
