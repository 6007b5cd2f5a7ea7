// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/butterfly.hpp"
#include "schedules/fold.hpp"

namespace tutti::schedules {
namespace {

enum class First { farthest, nearest };

/// Segment i holds the blocks of the ranks at place i: one block, or two of a folded pair. With the farthest partner
/// first a place ends with the segment of its number in the butterfly; with the nearest first, with that of the
/// number's reversed bits.
class Halving {
 public:
  Halving(const Problem& p, const Blocks& blocks, Distances distances, First first)
      : rank_(p.rank),
        fold_(p),
        butterfly_(distances, fold_.size()),
        blocks_(blocks),
        first_(first),
        total_(blocks.back().offset + blocks.back().count) {}

  Schedule schedule() {
    const Slice own = output(0, blocks_[rank_].count);
    const int keeper = fold_.rank_of(butterfly_.place_of(turned(fold_.index())));
    Slice mine = input(0, total_);
    if (!fold_.stays()) {
      b_.send(rank_ - 1, mine);
      b_.end_round();
      b_.recv(keeper, own);
      return b_.finish(0, true);
    }
    if (fold_.is_paired()) {
      b_.recv(rank_ + 1, received(total_));
      b_.reduce({mine, received(total_)}, scratch(0, total_));
      b_.end_round();
      mine = scratch(0, total_);
    }
    const bool ends_with_own = keeper == rank_ && !fold_.is_paired();
    halve(mine, ends_with_own);
    if (keeper != rank_) b_.recv(keeper, own);
    if (!ends_with_own) deliver(turned(butterfly_.number(fold_.index())));
    return b_.finish(2 * total_,
                     fold_.size() > 2 || blocks_[rank_].offset == 0 || blocks_[rank_].offset >= blocks_[rank_].count);
  }

 private:
  /// The segment that a number of the butterfly ends with, or the other way round.
  [[nodiscard]] int turned(int number) const {
    return first_ == First::nearest ? reversed_bits(number, fold_.size()) : number;
  }
  [[nodiscard]] Slice received(std::size_t count) const { return scratch(total_, count); }
  [[nodiscard]] std::size_t start_of(int segment) const {
    return segment == fold_.size() ? total_ : blocks_[fold_.rank_of(segment)].offset;
  }
  [[nodiscard]] Slice part_of(const Slice& whole, int first, int n) const {
    return {whole.buffer, whole.offset + start_of(first), start_of(first + n) - start_of(first)};
  }

  void halve(Slice mine, bool ends_with_own) {
    int start = 0;
    for (int half = fold_.size() / 2; half > 0; half /= 2) {
      const int step = floor_log2(first_ == First::nearest ? fold_.size() / 2 / half : half);
      const bool is_lower = butterfly_.is_lower(fold_.index(), step);
      const int partner = fold_.rank_of(butterfly_.partner(fold_.index(), step));
      const int given = is_lower ? start + half : start;
      start = is_lower ? start : start + half;
      const Slice kept = part_of(mine, start, half);
      const Slice other = received(kept.count);
      b_.send(partner, part_of(mine, given, half));
      b_.recv(partner, other);
      const bool is_last = half == 1 && ends_with_own;
      b_.reduce(is_lower ? std::vector{kept, other} : std::vector{other, kept},
                is_last ? output(0, kept.count) : part_of(scratch(0, total_), start, half));
      b_.end_round();
      mine = scratch(0, total_);
    }
  }

  void deliver(int segment) {
    const int owner = fold_.rank_of(segment);
    for (int rank = owner; rank <= owner + (fold_.has_pair(segment) ? 1 : 0); ++rank) {
      const Slice block = scratch(blocks_[rank].offset, blocks_[rank].count);
      if (rank == rank_)
        b_.copy(block, output(0, block.count));
      else
        b_.send(rank, block);
    }
  }

  Builder b_;
  int rank_;
  Fold fold_;
  Butterfly butterfly_;
  const Blocks& blocks_;
  First first_;
  std::size_t total_;
};

Schedule halving(const Problem& p, const Blocks& blocks, First first, Distances distances = Distances::doubling) {
  if (p.size > 1) return Halving(p, blocks, distances, first).schedule();
  Builder b;
  b.copy(input(blocks[0]), output(blocks[0]));
  return b.finish(0, true);
}

/// The blocks that rank 0 receives up to the last round; with a pair's, all from the start.
double halving_blocks(int size) {
  const int core = floor_power(size);
  double blocks = core < size ? size : 0;
  for (int places = core / 2; places > 0; places /= 2) blocks += places + std::min(places, size - core);
  return blocks;
}

Cost cost(int size, double bytes, double last_blocks) {
  const double folds = floor_power(size) < size ? 1 : 0;
  const double last = last_blocks > 0 ? 1 : 0;
  const double block = bytes / size;
  return {.rounds = floor_log2(size) + folds + last,
          .bytes = (halving_blocks(size) + last_blocks) * block,
          .reduced_bytes = 2 * halving_blocks(size) * block,
          .copied_bytes = size == 1 || folds > 0 ? block : 0.0,
          .messages = floor_log2(size) + folds + last_blocks};
}

}  // namespace

Schedule reduce_scatter_block_recursive_halving(const Problem& p) {
  return halving(p, uniform_blocks(p.count, p.size), First::farthest);
}
Schedule reduce_scatter_recursive_halving(const Problem& p) {
  return halving(p, packed_blocks(p.recv_counts), First::farthest);
}
Cost reduce_scatter_recursive_halving_cost(int size, double bytes) {
  return cost(size, bytes, floor_power(size) < size ? 1 : 0);
}

Schedule reduce_scatter_block_butterfly(const Problem& p) {
  return halving(p, uniform_blocks(p.count, p.size), First::nearest);
}
Schedule reduce_scatter_butterfly(const Problem& p) { return halving(p, packed_blocks(p.recv_counts), First::nearest); }
Schedule reduce_scatter_block_bine_butterfly(const Problem& p) {
  return halving(p, uniform_blocks(p.count, p.size), First::nearest, Distances::bine);
}
Schedule reduce_scatter_bine_butterfly(const Problem& p) {
  return halving(p, packed_blocks(p.recv_counts), First::nearest, Distances::bine);
}
Cost reduce_scatter_butterfly_cost(int size, double bytes) {
  return cost(size, bytes, size <= 2 ? 0 : size - floor_power(size) >= 2 ? 2 : 1);
}

}  // namespace tutti::schedules
