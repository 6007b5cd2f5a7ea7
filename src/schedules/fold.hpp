// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/builder.hpp"
#include "schedules/problem.hpp"

namespace tutti::schedules {

/// Brings any number of ranks down to `size`, the next power of two unless given. In each of the first pairs of
/// adjacent ranks, the upper rank hands its contribution to the lower one, waits, and gets the result at the end. The
/// pairs are adjacent, so rank order is kept. Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004.
class Fold {
 public:
  explicit Fold(const Problem& p) : Fold(p, floor_power(p.size)) {}
  /// `size`: at least half of the ranks.
  Fold(const Problem& p, int size) : rank_(p.rank), size_(size), pairs_(p.size - size) {}

  [[nodiscard]] int size() const { return size_; }
  /// This rank's place among the ranks that stay.
  [[nodiscard]] int index() const { return is_paired() ? rank_ / 2 : rank_ - pairs_; }
  /// The rank at a place, the lower one of a pair. Places are in rank order.
  [[nodiscard]] int rank_of(int index) const { return has_pair(index) ? 2 * index : index + pairs_; }

  /// False on a rank that has handed its contribution over. `mine` becomes `result` if a pair was combined.
  bool begin(Builder& b, Slice& mine, const Slice& received, const Slice& result) const {
    if (!is_paired()) return true;
    if (rank_ % 2 == 1) {
      b.send(rank_ - 1, mine);
      b.end_round();
      b.recv(rank_ - 1, result);
      b.end_round();
      return false;
    }
    b.recv(rank_ + 1, received);
    b.reduce({mine, received}, result);
    b.end_round();
    mine = result;
    return true;
  }

  /// Whether a place stands for two ranks.
  [[nodiscard]] bool has_pair(int index) const { return index < pairs_; }
  /// Whether this rank belongs to a pair. The lower one stays.
  [[nodiscard]] bool is_paired() const { return rank_ < 2 * pairs_; }
  [[nodiscard]] bool stays() const { return !is_paired() || rank_ % 2 == 0; }

  void end(Builder& b, const Slice& result) const {
    if (is_paired()) b.send(rank_ + 1, result);
    b.end_round();
  }

 private:
  int rank_;
  int size_;
  int pairs_;
};

}  // namespace tutti::schedules
