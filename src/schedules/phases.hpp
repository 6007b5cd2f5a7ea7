// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "schedules/builder.hpp"
#include "schedules/distances.hpp"
#include "schedules/tree.hpp"

namespace tutti::schedules {

/// Rounds that several algorithms share. Each takes the blocks of a vector; block i is rank i's.

/// Every rank sends block i of its input to rank i, receives the contributions to its own block into scratch, one slot
/// per rank, and combines them in rank order into `result` in one local step. Takes one round and scratch of size * own
/// count elements.
inline void exchange_and_combine(Builder& b, const Problem& p, const Blocks& blocks, const Slice& result) {
  const std::size_t own = blocks[p.rank].count;
  for (int step = 1; step < p.size; ++step) {
    const int to = wrap(p.rank + step, p.size);
    const int from = wrap(p.rank - step, p.size);
    b.send(to, input(blocks[to]));
    b.recv(from, scratch(from * own, own));
  }
  std::vector<Slice> parts;
  for (int i = 0; i < p.size; ++i) parts.push_back(i == p.rank ? input(blocks[i]) : scratch(i * own, own));
  b.reduce(std::move(parts), result);
  b.end_round();
}

/// Every rank sends `own`, its block, to all others and receives theirs in the output, in one round.
inline void allgather_in_one_round(Builder& b, const Problem& p, const Blocks& blocks, const Slice& own) {
  for (int step = 1; step < p.size; ++step) {
    const int to = wrap(p.rank + step, p.size);
    const int from = wrap(p.rank - step, p.size);
    b.send(to, own);
    b.recv(from, output(blocks[from]));
  }
  b.end_round();
}

/// Blocks go round the ring in size - 1 rounds, starting with block `first`, which this rank's output has already.
inline void allgather_by_ring(Builder& b, const Problem& p, const Blocks& blocks, int first) {
  for (int step = 0; step + 1 < p.size; ++step) {
    b.send(wrap(p.rank + 1, p.size), output(blocks[wrap(first - step, p.size)]));
    b.recv(wrap(p.rank - 1, p.size), output(blocks[wrap(first - step - 1, p.size)]));
    b.end_round();
  }
}

/// Sends down a k-nomial tree, the far children first: one round to receive, and one per level to send.
inline void bcast_down(Builder& b, const Tree& tree, int radix, const Slice& all) {
  if (!tree.is_root()) b.recv(tree.parent(), all);
  b.end_round();
  for (int power = tree.width() / radix; power > 0; power /= radix) {
    for (int i = 1; i <= tree.children(power); ++i) b.send(tree.child(i * power), all);
    b.end_round();
  }
}

/// The elements of blocks [first, first + n).
[[nodiscard]] inline Block span_of(const Blocks& blocks, int first, int n) {
  const Block& last = blocks[first + n - 1];
  return {blocks[first].offset, last.offset + last.count - blocks[first].offset};
}

/// Where blocks of the call's length begin.
[[nodiscard]] inline auto equal_offsets(const Problem& p) {
  return [n = p.count](int block) { return static_cast<std::size_t>(block) * n; };
}

/// Blocks that follow one another, block 0 behind the last one, if each begins at an `offset`: two pieces of the vector
/// where block 0 is among them, but not first.
template <typename Offset>
[[nodiscard]] std::array<Block, 2> pieces_of(const Run& run, int size, const Offset& offset) {
  const auto span = [&offset](int first, int end) { return Block{offset(first), offset(end) - offset(first)}; };
  const int before_wrap = std::min(run.count, size - run.first);
  return {span(run.first, run.first + before_wrap), span(0, run.count - before_wrap)};
}

/// Scatters the root's vector down a binomial tree, in place: each place gets the blocks of its subtree.
inline void scatter_down(Builder& b, const Tree& tree, const Blocks& blocks) {
  const int place = tree.place();
  if (!tree.is_root()) b.recv(tree.parent(), output(span_of(blocks, place, tree.subtree(place))));
  b.end_round();
  for (int distance = tree.width() / 2; distance > 0; distance /= 2) {
    if (!tree.has_child(distance)) continue;
    const int child = place + distance;
    b.send(tree.child(distance), output(span_of(blocks, child, tree.subtree(child))));
    b.end_round();
  }
}

/// Combines up a k-nomial tree whose places are in rank order, the near children first, so that order is kept. `mine`
/// becomes `partial` if anything was combined, and is sent up. Takes scratch of (radix - 1) * count elements.
inline void reduce_up(Builder& b, const Tree& tree, int radix, Slice& mine, const Slice& partial) {
  for (int power = 1; power < tree.width(); power *= radix) {
    std::vector<Slice> parts{mine};
    for (int i = 1; i <= tree.children(power); ++i) {
      parts.push_back(scratch((i - 1) * mine.count, mine.count));
      b.recv(tree.child(i * power), parts.back());
    }
    if (parts.size() == 1) continue;
    b.reduce(std::move(parts), partial);
    b.end_round();
    mine = partial;
  }
  if (!tree.is_root()) b.send(tree.parent(), mine);
  b.end_round();
}

}  // namespace tutti::schedules
