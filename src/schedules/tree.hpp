// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/builder.hpp"
#include "schedules/problem.hpp"

namespace tutti::schedules {

/// The k-nomial tree (binomial for radix 2) over the ranks counted from the root: places 0 (the root) to size - 1. A
/// place has children at the distances i * radix^j, 0 < i < radix, below its own distance; its subtree is the places
/// that follow it.
class Tree {
 public:
  explicit Tree(const Problem& p, int radix = 2) : Tree(p, p.root, radix) {}
  Tree(const Problem& p, int root, int radix)
      : size_(p.size), root_(root), place_(wrap(p.rank - root, p.size)), radix_(radix) {}

  [[nodiscard]] int place() const { return place_; }
  [[nodiscard]] int rank_of(int place) const { return wrap(place + root_, size_); }
  [[nodiscard]] bool is_root() const { return place_ == 0; }
  [[nodiscard]] int parent() const { return rank_of(place_ - place_ / width() % radix_ * width()); }
  /// The power of the radix in the distance to the parent. The root has a power that covers all places.
  [[nodiscard]] int width() const { return width(place_); }
  /// The number of places in the subtree of a place.
  [[nodiscard]] int subtree(int place) const { return std::min(width(place), size_ - place); }
  /// Children at the distances power, 2 * power …, for a power of the radix below width().
  [[nodiscard]] int children(int power) const { return std::min(radix_ - 1, (size_ - 1 - place_) / power); }
  [[nodiscard]] bool has_child(int distance) const { return place_ + distance < size_; }
  [[nodiscard]] int child(int distance) const { return rank_of(place_ + distance); }

 private:
  [[nodiscard]] int width(int place) const {
    int power = 1;
    while (place == 0 ? power < size_ : place / power % radix_ == 0) power *= radix_;
    return power;
  }

  int size_;
  int root_;
  int place_;
  int radix_;
};

/// The root's work in such a tree: levels, and children over all levels.
struct RootDuty {
  double levels = 0;
  double children = 0;
};
[[nodiscard]] inline RootDuty root_duty(int size, int radix) {
  RootDuty duty;
  for (int power = 1; power < size; power *= radix) {
    duty.levels += 1;
    duty.children += std::min(radix - 1, (size - 1) / power);
  }
  return duty;
}

}  // namespace tutti::schedules
