// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/pipeline.hpp"

namespace tutti::schedules {
namespace {

int chain_chunks(int size, double bytes, double start) { return pipeline_chunks(std::max(size - 2, 0), bytes, start); }

}  // namespace

Schedule bcast_chain(const Problem& p) {
  Builder b;
  const int place = wrap(p.rank - p.root, p.size);
  const Chunks chunks({0, p.count}, chain_chunks(p.size, bytes_of(p), p.starts.through));
  const int steps = p.size - 2 + chunks.number();
  for (int step = 0; step < steps; ++step) {
    const int taken = step - place + 1;
    const int given = step - place;
    if (place > 0 && chunks.contains(taken)) b.recv(wrap(p.rank - 1, p.size), output(chunks[taken]));
    if (place + 1 < p.size && chunks.contains(given)) b.send(wrap(p.rank + 1, p.size), output(chunks[given]));
    b.end_round();
  }
  return b.finish(0, true);
}

Cost bcast_chain_cost(int size, double bytes, double start) {
  if (size == 1) return {};
  const int chunks = chain_chunks(size, bytes, start);
  const double steps = size - 2 + chunks;
  return {.rounds = steps, .bytes = steps * bytes / chunks, .messages = steps};
}

}  // namespace tutti::schedules
