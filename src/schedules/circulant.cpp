// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/phases.hpp"

/// Rounds of any number of ranks around a circle: each sends to a rank ahead of it and receives from one as far behind
/// it, at the distances ceil(size / 2), ceil(size / 4), ..., 1. Block i of a vector is rank i's; `offset` tells where
/// one begins, and where the last one ends.
namespace tutti::schedules {
namespace {

/// How many blocks each rank still combines before a round. It gives the upper part of them away, and keeps the rest.
struct Halved {
  int blocks = 1;
  int kept() const { return (blocks + 1) / 2; }
  int given() const { return blocks / 2; }
};
Halved halved(int size, int round) { return {((size - 1) >> round) + 1}; }

/// Combines all contributions to a rank's own block into `result`. Those to others are combined in `partial` on their
/// way, in the places of the input; so many elements arrive in `received`. Not in rank order.
template <typename Offset>
void combine_around(Builder& b, const Problem& p, const Offset& offset, const Slice& partial, const Slice& received,
                    const Slice& result) {
  Slice mine = input(0, partial.count);
  for (int round = 0; round < ceil_log2(p.size); ++round) {
    const Halved now = halved(p.size, round);
    const int ahead = wrap(p.rank + now.kept(), p.size);
    for (const Block& piece : pieces_of({ahead, now.given()}, p.size, offset)) b.send(ahead, part_of(mine, piece));
    for (const Block& piece : pieces_of({p.rank, now.given()}, p.size, offset)) {
      b.recv(wrap(p.rank - now.kept(), p.size), part_of(received, piece));
      b.reduce({part_of(mine, piece), part_of(received, piece)},
               now.kept() == 1 ? part_of(result, 0, piece.count) : part_of(partial, piece));
    }
    // Of an odd number one is kept as it is.
    const Run alone{wrap(p.rank + now.given(), p.size), now.kept() - now.given()};
    for (const Block& piece : pieces_of(alone, p.size, offset)) b.copy(part_of(mine, piece), part_of(partial, piece));
    b.end_round();
    mine = partial;
  }
}

/// Brings all blocks to all ranks, each of which has its own in the output: the same rounds backwards.
template <typename Offset>
void gather_around(Builder& b, const Problem& p, const Offset& offset) {
  for (int round = ceil_log2(p.size) - 1; round >= 0; --round) {
    const Halved now = halved(p.size, round);
    const int ahead = wrap(p.rank + now.kept(), p.size);
    for (const Block& piece : pieces_of({p.rank, now.given()}, p.size, offset))
      b.send(wrap(p.rank - now.kept(), p.size), output(piece));
    for (const Block& piece : pieces_of({ahead, now.given()}, p.size, offset)) b.recv(ahead, output(piece));
    b.end_round();
  }
}

/// The cost of such rounds with blocks of this size. Of two blocks and more, some rank's go on from rank 0.
Cost cost_around(int size, double block) {
  Cost cost{.rounds = static_cast<double>(ceil_log2(size)), .bytes = (size - 1) * block};
  for (int round = 0; round < ceil_log2(size); ++round) cost.messages += halved(size, round).given() > 1 ? 2 : 1;
  return cost;
}

template <typename Offset>
Schedule reduce_scatter_around(const Problem& p, const Offset& offset) {
  Builder b;
  const std::size_t total = offset(p.size);
  const Block own{offset(p.rank), offset(p.rank + 1) - offset(p.rank)};
  const Slice result = output(0, own.count);
  if (p.size == 1) b.copy(input(own), result);
  combine_around(b, p, offset, scratch(0, total), scratch(total, total), result);
  // In place, the output is the start of the input. Of two ranks, the first round reads one and writes the other.
  return b.finish(2 * total, p.size > 2 || own.offset == 0 || own.offset >= own.count);
}

/// Of an odd number of ranks each keeps a block as it is in the first round.
Cost combining_cost(int size, double bytes) {
  Cost cost = cost_around(size, bytes / size);
  cost.reduced_bytes = 2 * cost.bytes;
  cost.copied_bytes = size % 2 != 0 ? bytes / size : 0;
  return cost;
}

}  // namespace

Schedule reduce_scatter_block_circulant(const Problem& p) { return reduce_scatter_around(p, equal_offsets(p)); }
Schedule reduce_scatter_circulant(const Problem& p) {
  std::vector<std::size_t> offsets{0};
  for (const std::size_t count : p.recv_counts) offsets.push_back(offsets.back() + count);
  return reduce_scatter_around(p, [&offsets](int block) { return offsets[static_cast<std::size_t>(block)]; });
}
Cost reduce_scatter_circulant_cost(int size, double bytes) { return combining_cost(size, bytes); }

Schedule allgather_circulant(const Problem& p) {
  Builder b;
  b.copy(input(0, p.count), output(p.rank * p.count, p.count));
  b.end_round();
  gather_around(b, p, equal_offsets(p));
  return b.finish(0, true);
}
Cost allgather_circulant_cost(int size, double bytes) {
  Cost cost = cost_around(size, bytes / size);
  cost.copied_bytes = bytes / size;
  return cost;
}

Schedule allreduce_circulant(const Problem& p) {
  Builder b;
  const auto offset = [&p](int block) { return even_block(p.count, p.size, block).offset; };
  if (p.size == 1) b.copy(input(0, p.count), output(0, p.count));
  combine_around(b, p, offset, output(0, p.count), scratch(0, p.count), output(even_block(p.count, p.size, p.rank)));
  gather_around(b, p, offset);
  return b.finish(p.count, true);
}
Cost allreduce_circulant_cost(int size, double bytes) {
  Cost cost = combining_cost(size, bytes);
  cost.rounds *= 2;
  cost.bytes *= 2;
  cost.messages *= 2;
  return cost;
}

}  // namespace tutti::schedules
