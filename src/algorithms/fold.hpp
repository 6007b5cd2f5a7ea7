// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/builder.hpp"
#include "algorithms/problem.hpp"

namespace tutti::algorithms {

/// Brings any number of ranks down to a power of two: of the first pairs of adjacent ranks, the upper one hands its
/// contribution to the lower one, waits, and gets the result at the end. Adjacent, so rank order is kept.
/// Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004.
class Fold {
 public:
  explicit Fold(const Problem& p) : rank_(p.rank), size_(floor_power(p.size)), pairs_(p.size - size_) {}

  [[nodiscard]] int size() const { return size_; }
  /// This rank's place among the ranks that stay.
  [[nodiscard]] int index() const { return is_paired() ? rank_ / 2 : rank_ - pairs_; }
  [[nodiscard]] int rank_of(int index) const { return index < pairs_ ? 2 * index : index + pairs_; }

  /// False on a rank that is done, for it handed its part over. `mine` becomes `result` where a pair was combined.
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

  void end(Builder& b, const Slice& result) const {
    if (is_paired()) b.send(rank_ + 1, result);
    b.end_round();
  }

 private:
  [[nodiscard]] bool is_paired() const { return rank_ < 2 * pairs_; }

  int rank_;
  int size_;
  int pairs_;
};

}  // namespace tutti::algorithms
