// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "schedules/pipeline.hpp"

namespace tutti::schedules {

/// Two binary trees over the places 1 to size - 1, both below place 0, the root. A place is inner in at most one of
/// them, so each half of the data loads a place's links once. Both are in order: the places below a place's left child
/// stand before it, those below its right child behind it. Sanders, Speck, Träff, Two-tree Algorithms for Full
/// Bandwidth Broadcast, Reduction and Scan, Parallel Computing 35(12), 2009.
class DoubleTree {
 public:
  static constexpr int none = -1;
  /// A place's neighbours in one tree, as ranks.
  struct Node {
    int parent = none;
    int left = none;
    int right = none;
    int depth = 0;
    [[nodiscard]] bool is_leaf() const { return left == none && right == none; }
  };

  DoubleTree(const Problem& p, int root) : size_(p.size), root_(root), place_(wrap(p.rank - root, p.size)) {}

  [[nodiscard]] Node node(int tree) const {
    const Node places = at(tree, place_);
    return {rank_of(places.parent), rank_of(places.left), rank_of(places.right), depth(tree, place_)};
  }

  /// The depth of the deeper tree.
  [[nodiscard]] static int depth(int size) { return ceil_log2(size) + (size > 2 && size % 2 == 0 ? 1 : 0); }

  /// The number of chunks of each half on the way from the root to all ranks, or back.
  [[nodiscard]] static int chunks(int size, double bytes, double start) {
    return pipeline_chunks(std::max(depth(size) - 1, 0), bytes, start);
  }

  /// The half of the data that a tree carries.
  [[nodiscard]] static Chunks half(const Problem& p, int tree, int chunks) {
    return {even_block(p.count, 2, tree), chunks};
  }

 private:
  /// The in-order tree over positions 1 to n, below position 0: leaves are the odd ones.
  [[nodiscard]] static Node in_order(int position, int n) {
    if (position == 0) return {none, none, floor_power(n)};
    const int bit = position & -position;
    const int above = (position ^ bit) | (2 * bit);
    int reach = bit / 2;
    while (reach > 0 && position + reach > n) reach /= 2;
    return {above > n ? position ^ bit : above, bit > 1 ? position - bit / 2 : none,
            reach > 0 ? position + reach : none};
  }

  /// If size - 1 is even, the second tree is the first seen from the other end, which swaps odd and even. Else it is
  /// the first moved by one, with place 1 above it.
  [[nodiscard]] Node at(int tree, int place) const {
    const int n = size_ - 1;
    if (n == 0) return {};
    if (tree == 0) return in_order(place, n);
    if (n % 2 == 0) {
      const auto mirror = [n](int i) { return i > 0 ? n + 1 - i : i; };
      Node node = in_order(mirror(place), n);
      node = {mirror(node.parent), mirror(node.left), mirror(node.right)};
      if (place > 0) std::swap(node.left, node.right);
      return node;
    }
    if (place == 0) return {none, none, 1};
    const auto shift = [](int i) { return i == none ? none : i + 1; };
    const Node node = n > 1 ? in_order(place - 1, n - 1) : Node{};
    return {place == 1 ? 0 : shift(node.parent), shift(node.left), shift(node.right)};
  }

  [[nodiscard]] int depth(int tree, int place) const {
    int depth = 0;
    for (; place > 0; place = at(tree, place).parent) ++depth;
    return depth;
  }
  [[nodiscard]] int rank_of(int place) const { return place == none ? none : wrap(place + root_, size_); }

  int size_;
  int root_;
  int place_;
};

}  // namespace tutti::schedules
