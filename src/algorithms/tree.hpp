// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "algorithms/builder.hpp"
#include "algorithms/problem.hpp"

namespace tutti::algorithms {

/// The binomial tree over the ranks counted from the root: places 0 (the root) to size - 1. The subtree of a place is
/// the places that follow it.
class Tree {
 public:
  explicit Tree(const Problem& p) : size_(p.size), root_(p.root), place_(wrap(p.rank - p.root, p.size)) {}

  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] int rank_of(int place) const { return wrap(place + root_, size_); }
  [[nodiscard]] bool is_root() const { return place_ == 0; }
  [[nodiscard]] int parent() const { return rank_of(place_ & (place_ - 1)); }
  /// The distance to the parent; above it, of the root, all distances.
  [[nodiscard]] int width() const { return width(place_); }
  /// How many places the subtree of a place has.
  [[nodiscard]] int subtree(int place) const { return std::min(width(place), size_ - place); }
  /// A child at each distance 1, 2, 4 … below width(), as long as its place exists.
  [[nodiscard]] bool has_child(int distance) const { return place_ + distance < size_; }
  [[nodiscard]] int child(int distance) const { return rank_of(place_ + distance); }

 private:
  [[nodiscard]] int width(int place) const { return place == 0 ? 1 << ceil_log2(size_) : (place & -place); }

  int size_;
  int root_;
  int place_;
};

}  // namespace tutti::algorithms
