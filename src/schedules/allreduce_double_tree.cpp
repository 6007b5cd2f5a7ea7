// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/double_tree.hpp"

namespace tutti::schedules {
namespace {

int chunks_of(int size, double bytes, double start) {
  return pipeline_chunks(std::max(2 * DoubleTree::depth(size) - 1, 0), bytes, start);
}

/// A rank's work in one tree at one step.
class Side {
 public:
  Side(const Problem& p, int tree, int chunks)
      : node_(DoubleTree(p, 0).node(tree)),
        half_(DoubleTree::half(p, tree, chunks)),
        depth_(DoubleTree::depth(p.size)),
        scratch_at_(2 * tree * largest(p, chunks)),
        slot_(largest(p, chunks)) {}

  /// Elements of the longest chunk.
  static std::size_t largest(const Problem& p, int chunks) { return DoubleTree::half(p, 0, chunks)[0].count; }

  void up(Builder& b, int step) const {
    const int given = step - (depth_ - node_.depth);
    if (node_.parent != DoubleTree::none && half_.contains(given))
      b.send(node_.parent, node_.is_leaf() ? input(half_[given]) : output(half_[given]));
    if (!node_.is_leaf() && half_.contains(given + 1)) combine(b, half_[given + 1]);
  }

  void down(Builder& b, int step) const {
    const int given = step - (depth_ + node_.depth);
    if (node_.parent != DoubleTree::none && half_.contains(given + 1)) b.recv(node_.parent, output(half_[given + 1]));
    for (const int child : {node_.left, node_.right})
      if (child != DoubleTree::none && half_.contains(given)) b.send(child, output(half_[given]));
  }

 private:
  void combine(Builder& b, const Block& block) const {
    std::vector<Slice> parts;
    if (node_.left != DoubleTree::none) b.recv(node_.left, parts.emplace_back(scratch(scratch_at_, block.count)));
    parts.push_back(input(block));
    if (node_.right != DoubleTree::none)
      b.recv(node_.right, parts.emplace_back(scratch(scratch_at_ + slot_, block.count)));
    b.reduce(std::move(parts), output(block));
  }

  DoubleTree::Node node_;
  Chunks half_;
  int depth_;
  std::size_t scratch_at_;
  std::size_t slot_;
};

}  // namespace

Schedule allreduce_double_tree(const Problem& p) {
  Builder b;
  if (p.size == 1) {
    b.copy(input(0, p.count), output(0, p.count));
    return b.finish(0, true);
  }
  const int chunks = chunks_of(p.size, bytes_of(p), p.starts.through);
  const Side sides[2] = {Side(p, 0, chunks), Side(p, 1, chunks)};
  for (int step = 0; step < 2 * DoubleTree::depth(p.size) - 1 + chunks; ++step) {
    for (const Side& side : sides) {
      side.up(b, step);
      side.down(b, step);
    }
    b.end_round();
  }
  return b.finish(4 * Side::largest(p, chunks), true);
}

Cost allreduce_double_tree_cost(int size, double bytes, double start) {
  if (size == 1) return {.copied_bytes = bytes};
  const int chunks = chunks_of(size, bytes, start);
  const double depth = DoubleTree::depth(size);
  const double chunk = bytes / chunks;
  // On the way up and down, a rank with two children moves all of the data each way.
  const double passes = std::min(size, 4) / 2.0;
  const double hops = std::max(2 * depth - 2, 1.0);
  return {.rounds = 2 * depth - 1 + chunks,
          .bytes = passes * bytes + hops * chunk,
          .reduced_bytes = 2 * bytes + 2 * (depth - 1) * chunk,
          .messages = 2 * (passes * chunks + hops)};
}

}  // namespace tutti::schedules
