// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

namespace tutti::schedules {

Schedule reduce_direct(const Problem& p) {
  Builder b;
  if (p.rank != p.root) {
    b.send(p.root, input(0, p.count));
    return b.finish(0, true);
  }
  std::vector<Slice> parts;
  for (int i = 0; i < p.size; ++i) {
    parts.push_back(i == p.rank ? input(0, p.count) : scratch(i * p.count, p.count));
    if (i != p.rank) b.recv(i, parts.back());
  }
  b.reduce(std::move(parts), output(0, p.count));
  return b.finish(p.size * p.count, true);
}

// The root does as much as every rank of an allreduce.
Cost reduce_direct_cost(int size, double bytes) { return allreduce_direct_cost(size, bytes); }

Schedule reduce_scatter_gather(const Problem& p) {
  Builder b;
  const Blocks blocks = even_blocks(p.count, p.size);
  const Block own = blocks[p.rank];
  const bool is_root = p.rank == p.root;
  const Slice result = is_root ? output(own) : scratch(p.rank * own.count, own.count);
  exchange_and_combine(b, p, blocks, result);
  if (!is_root) b.send(p.root, result);
  for (int i = 0; is_root && i < p.size; ++i)
    if (i != p.rank) b.recv(i, output(blocks[i]));
  return b.finish(p.size * own.count, true);
}

Cost reduce_scatter_gather_cost(int size, double bytes) { return allreduce_scatter_allgather_cost(size, bytes); }

}  // namespace tutti::schedules
