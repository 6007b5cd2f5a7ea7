// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/builder.hpp"
#include "schedules/distances.hpp"

/// Rounds whose long messages stay near without a fold or a copy: those of the nearest partners move half of the
/// blocks, each in a message of its own, since they do not lie together.
namespace tutti::schedules {
namespace {

/// How contributions go to the ranks of their blocks, in steps to partners, the nearest first.
class Ways {
 public:
  Ways(Distances distances, int size) : distances_(distances), size_(size) {}

  [[nodiscard]] int steps() const { return ceil_log2(size_); }
  /// Whom a rank gives blocks in a step, and who gives it some: the rank below and that above, or one partner.
  [[nodiscard]] int taker(int rank, int step) const {
    return is_bine() ? bine_partner(rank, step, size_) : wrap(rank - (1 << step), size_);
  }
  [[nodiscard]] int giver(int rank, int step) const {
    return is_bine() ? bine_partner(rank, step, size_) : wrap(rank + (1 << step), size_);
  }
  /// The blocks that a rank gives in a step, in the order in which both ends take them.
  [[nodiscard]] std::vector<int> given(int rank, int step) const {
    return is_bine() ? only_taker_reaches(rank, step) : below(rank, step);
  }

 private:
  [[nodiscard]] bool is_bine() const { return distances_ == Distances::bine; }

  [[nodiscard]] std::vector<int> below(int rank, int step) const {
    std::vector<int> blocks;
    for (int distance = 1 << step; distance < size_; distance += 2 << step)
      blocks.push_back(wrap(rank - distance, size_));
    return blocks;
  }

  /// Those that the farther steps lead to from the taker, but not from the rank itself. Where the ranks are no power of
  /// two, they lead to some from both.
  [[nodiscard]] std::vector<int> only_taker_reaches(int rank, int step) const {
    const int ways = 1 << (steps() - 1 - step);
    std::vector<bool> is_met(static_cast<std::size_t>(size_));
    std::vector<int> blocks;
    for (int way = 0; way < ways; ++way) is_met[led_to(way, rank, step + 1)] = true;
    for (int way = 0; way < ways; ++way) {
      const int block = led_to(way, taker(rank, step), step + 1);
      if (!is_met[block]) blocks.push_back(block);
      is_met[block] = true;
    }
    return blocks;
  }
  /// Where steps lead, each of which has a binary digit of `way`.
  [[nodiscard]] int led_to(int way, int rank, int step) const {
    for (; way > 0; way /= 2, ++step)
      if (way % 2 != 0) rank = taker(rank, step);
    return rank;
  }

  Distances distances_;
  int size_;
};

/// Combines all contributions to a rank's own block into `result`. Those to others are combined in `partial` on their
/// way, in the places of the input; they arrive in the same places of `received`. Not in rank order.
void combine_blocks(Builder& b, const Problem& p, const Ways& ways, const Blocks& blocks, const Slice& partial,
                    const Slice& received, const Slice& result) {
  std::vector<Slice> mine;
  for (const Block& block : blocks) mine.push_back(input(block));
  if (p.size == 1) b.copy(mine.front(), result);
  for (int step = 0; step < ways.steps(); ++step) {
    const int giver = ways.giver(p.rank, step);
    for (const int i : ways.given(p.rank, step)) b.send(ways.taker(p.rank, step), mine[i]);
    for (const int i : ways.given(giver, step)) {
      const Slice other = part_of(received, blocks[i]);
      b.recv(giver, other);
      const bool is_done = i == p.rank && step + 1 == ways.steps();
      const Slice sum = is_done ? result : part_of(partial, blocks[i]);
      b.reduce({mine[i], other}, sum);
      mine[i] = sum;
    }
    b.end_round();
  }
}

/// Brings all blocks to all ranks, each of which has its own in the output: the same rounds backwards.
void bring_blocks(Builder& b, const Problem& p, const Ways& ways, const Blocks& blocks) {
  for (int step = ways.steps() - 1; step >= 0; --step) {
    const int giver = ways.giver(p.rank, step);
    for (const int i : ways.given(giver, step)) b.send(giver, output(blocks[i]));
    for (const int i : ways.given(p.rank, step)) b.recv(ways.taker(p.rank, step), output(blocks[i]));
    b.end_round();
  }
}

Schedule scatter_sums(const Problem& p, const Blocks& blocks, Distances distances) {
  Builder b;
  const std::size_t total = end_of(blocks);
  const Block& own = blocks[p.rank];
  combine_blocks(b, p, {distances, p.size}, blocks, scratch(0, total), scratch(total, total), output(0, own.count));
  // In place, the output is the start of the input. Of two ranks, the only round reads one and writes the other.
  return b.finish(2 * total, p.size > 2 || own.offset == 0 || own.offset >= own.count);
}

Schedule gather_all(const Problem& p, const Blocks& blocks, Distances distances) {
  Builder b;
  b.copy(input(0, blocks[p.rank].count), output(blocks[p.rank]));
  b.end_round();
  bring_blocks(b, p, {distances, p.size}, blocks);
  return b.finish(0, true);
}

Schedule sum_all(const Problem& p, Distances distances) {
  Builder b;
  const Ways ways(distances, p.size);
  const Blocks blocks = even_blocks(p.count, p.size);
  combine_blocks(b, p, ways, blocks, output(0, p.count), scratch(0, p.count), output(blocks[p.rank]));
  bring_blocks(b, p, ways, blocks);
  return b.finish(p.count, true);
}

Cost cost_of_blocks(int size, double bytes, double passes) {
  const double others = size - 1;
  return {.rounds = passes * ceil_log2(size), .bytes = passes * bytes * others / size, .messages = passes * others};
}

Cost cost_of_sums(int size, double bytes, double passes) {
  Cost cost = cost_of_blocks(size, bytes, passes);
  cost.reduced_bytes = 2 * bytes * (size - 1) / size;
  cost.copied_bytes = size == 1 ? bytes : 0;
  return cost;
}

}  // namespace

Schedule reduce_scatter_block_sparbit(const Problem& p) {
  return scatter_sums(p, uniform_blocks(p.count, p.size), Distances::doubling);
}
Schedule reduce_scatter_sparbit(const Problem& p) {
  return scatter_sums(p, packed_blocks(p.recv_counts), Distances::doubling);
}
Schedule reduce_scatter_block_bine_blocks(const Problem& p) {
  return scatter_sums(p, uniform_blocks(p.count, p.size), Distances::bine);
}
Schedule reduce_scatter_bine_blocks(const Problem& p) {
  return scatter_sums(p, packed_blocks(p.recv_counts), Distances::bine);
}
Cost reduce_scatter_sparbit_cost(int size, double bytes) { return cost_of_sums(size, bytes, 1); }

Schedule allgather_sparbit(const Problem& p) {
  return gather_all(p, uniform_blocks(p.count, p.size), Distances::doubling);
}
Schedule allgatherv_sparbit(const Problem& p) {
  return gather_all(p, placed_blocks(p.recv_counts, p.recv_displs), Distances::doubling);
}
Schedule allgather_bine_blocks(const Problem& p) {
  return gather_all(p, uniform_blocks(p.count, p.size), Distances::bine);
}
Schedule allgatherv_bine_blocks(const Problem& p) {
  return gather_all(p, placed_blocks(p.recv_counts, p.recv_displs), Distances::bine);
}
Cost allgather_sparbit_cost(int size, double bytes) {
  Cost cost = cost_of_blocks(size, bytes, 1);
  cost.copied_bytes = bytes / size;
  return cost;
}

Schedule allreduce_sparbit(const Problem& p) { return sum_all(p, Distances::doubling); }
Schedule allreduce_bine_blocks(const Problem& p) { return sum_all(p, Distances::bine); }
Cost allreduce_sparbit_cost(int size, double bytes) { return cost_of_sums(size, bytes, 2); }

}  // namespace tutti::schedules
