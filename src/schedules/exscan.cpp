// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"

namespace tutti::schedules {

Schedule exscan_linear(const Problem& p) {
  Builder b;
  const Slice result = output(0, p.count);
  Slice prefix = input(0, p.count);
  const bool is_last = p.rank + 1 == p.size;
  if (p.rank > 0) {
    b.recv(p.rank - 1, result);
    const Slice longer = scratch(0, p.count);
    if (!is_last) b.reduce({result, prefix}, longer);
    prefix = longer;
    b.end_round();
  }
  if (!is_last) b.send(p.rank + 1, prefix);
  return b.finish(p.count, false);
}

Cost exscan_linear_cost(int size, double bytes) {
  const double hops = size - 1;
  return {.rounds = hops,
          .bytes = hops * bytes,
          .reduced_bytes = size > 2 ? 2 * (hops - 1) * bytes : 0.0,
          .messages = hops};
}

Schedule exscan_recursive_doubling(const Problem& p) {
  Builder b;
  const Slice result = output(0, p.count);
  const Slice received = scratch(0, p.count);
  const Slice sum = scratch(p.count, p.count);
  Slice window = input(0, p.count);  // the ranks up to and with this one
  for (int distance = 1; distance < p.size; distance *= 2) {
    if (p.rank + distance < p.size) b.send(p.rank + distance, window);
    if (p.rank >= distance) {
      const Slice arrived = distance == 1 ? result : received;
      b.recv(p.rank - distance, arrived);
      if (p.rank + 2 * distance < p.size) {
        b.reduce({arrived, window}, sum);
        window = sum;
      }
      if (distance > 1) b.reduce({arrived, result}, result);
    }
    b.end_round();
  }
  return b.finish(2 * p.count, false);
}

Cost exscan_recursive_doubling_cost(int size, double bytes) {
  const double steps = ceil_log2(size);
  // A rank that receives at all steps combines twice at each step but the first. Growing its window at the first step
  // and at the last but one takes ranks above it.
  const bool is_upper_half = 4 * size > 3 * (1 << ceil_log2(size));
  const double reduces = size > 2 ? 2 * steps - (is_upper_half ? 2 : 3) : 0.0;
  return {.rounds = steps, .bytes = steps * bytes, .reduced_bytes = 2 * reduces * bytes, .messages = steps};
}

Schedule exscan_direct(const Problem& p) {
  Builder b;
  std::vector<Slice> parts;
  for (int i = 0; i < p.rank; ++i) {
    parts.push_back(scratch(i * p.count, p.count));
    b.recv(i, parts.back());
  }
  for (int i = p.rank + 1; i < p.size; ++i) b.send(i, input(0, p.count));
  if (p.rank > 0) b.reduce(std::move(parts), output(0, p.count));
  return b.finish(p.rank * p.count, true);
}

Cost exscan_direct_cost(int size, double bytes) {
  const double others = size - 1;
  return {.rounds = size > 1 ? 1.0 : 0.0,
          .bytes = others * bytes,
          .reduced_bytes = size > 2 ? others * bytes : 0.0,
          .copied_bytes = size > 1 ? bytes : 0.0,
          .messages = others};
}

}  // namespace tutti::schedules
