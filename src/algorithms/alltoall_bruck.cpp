// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/algorithms.hpp"
#include "algorithms/builder.hpp"

namespace tutti::algorithms {
namespace {

/// The blocks that travel over `distance`: those whose remaining way has that bit.
std::vector<int> travellers(int size, int distance) {
  std::vector<int> blocks;
  for (int i = distance; i < size; ++i)
    if ((i & distance) != 0) blocks.push_back(i);
  return blocks;
}

}  // namespace

Schedule alltoall_bruck(const Problem& p) {
  Builder b;
  const std::size_t n = p.count;
  const auto slot = [n](int i) { return scratch(i * n, n); };
  const int most = (p.size + 1) / 2;
  const auto packed = [&](std::size_t i) { return scratch((p.size + i) * n, n); };
  const auto arrived = [&](std::size_t i) { return scratch((p.size + most + i) * n, n); };

  // Slot i has the block that has i ranks still to go.
  const int upper = p.size - p.rank;
  b.copy(input(p.rank * n, upper * n), scratch(0, upper * n));
  b.copy(input(0, p.rank * n), scratch(upper * n, p.rank * n));
  for (int distance = 1; distance < p.size; distance *= 2) {
    const std::vector<int> blocks = travellers(p.size, distance);
    for (std::size_t i = 0; i < blocks.size(); ++i) b.copy(slot(blocks[i]), packed(i));
    b.end_round();
    b.send(wrap(p.rank + distance, p.size), scratch(p.size * n, blocks.size() * n));
    b.recv(wrap(p.rank - distance, p.size), scratch((p.size + most) * n, blocks.size() * n));
    for (std::size_t i = 0; i < blocks.size(); ++i) b.copy(arrived(i), slot(blocks[i]));
  }
  for (int i = 0; i < p.size; ++i) b.copy(slot(i), output(wrap(p.rank - i, p.size) * n, n));
  return b.finish((p.size + 2 * most) * n, true);
}

Cost alltoall_bruck_cost(int size, double bytes) {
  double moved = 0;
  for (int distance = 1; distance < size; distance *= 2)
    moved += static_cast<double>(travellers(size, distance).size());
  const double block = bytes / size;
  const double steps = ceil_log2(size);
  return {.rounds = steps, .bytes = moved * block, .copied_bytes = 2 * (bytes + moved * block), .messages = steps};
}

}  // namespace tutti::algorithms
