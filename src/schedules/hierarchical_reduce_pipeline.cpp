// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/node_trees.hpp"

namespace tutti::schedules {
namespace {

/// One rank's part of the pipeline.
class UpPipeline {
 public:
  explicit UpPipeline(const Problem& p)
      : layout_(p, Layout::Leaders::root),
        trees_(layout_, p),
        chunks_({0, p.count}, NodeTrees::chunks(layout_.spread(), bytes_of(p))),
        depth_(NodeTrees::hops(layout_.spread()) + 1),
        exchanges_(layout_.shares_nodes() && layout_.node_size() > 1),
        sends_(!layout_.shares_nodes() || layout_.is_leader()),
        is_root_(p.rank == p.root) {
    const std::size_t half = NodeTrees::half(chunks_[0], 0).count;
    for (Slots& slots : slots_)
      for (Slice* slot : {&slots.sum, &slots.arrivals[0], &slots.arrivals[1], &slots.arrivals[2], &slots.arrivals[3]})
        *slot = composer_.reserve(sends_ ? half : 0);
    if (exchanges_ && layout_.is_leader()) node_sum_ = composer_.reserve(p.count);
  }

  Schedule made() && {
    for (int step = 0; step < depth_ + chunks_.number() - 1; ++step) {
      for (int tree = 0; tree < 2 && sends_; ++tree) pass_on(tree, step);
      if (exchanges_) exchange(step + 1 - (depth_ - trees_.leader_depth()));
      composer_.end_round();
    }
    return composer_.finish(true);
  }

 private:
  /// The buffers of one tree: the sum, which is sent a step later, and the vectors that arrive from the children.
  struct Slots {
    Slice sum{};
    std::array<Slice, 4> arrivals{};
  };

  void pass_on(int tree, int step) {
    const NodeTrees::Node& node = trees_[tree];
    const Slots& slots = slots_[static_cast<std::size_t>(tree)];
    const std::vector<int> children = node.children(!layout_.shares_nodes());
    const int given = step - (depth_ - node.depth);
    const int taken = given + 1;
    if (node.parent != DoubleTree::none && chunks_.contains(given)) {
      const Block half = NodeTrees::half(chunks_[given], tree);
      composer_.send(node.parent, children.empty() ? own(half) : part_of(slots.sum, 0, half.count));
    }
    if (!chunks_.contains(taken) || (children.empty() && !is_root_)) return;
    const Block half = NodeTrees::half(chunks_[taken], tree);
    std::vector<Slice> parts{own(half)};
    for (std::size_t i = 0; i < children.size(); ++i) {
      parts.push_back(part_of(slots.arrivals[i], 0, half.count));
      composer_.recv(children[i], parts.back());
    }
    composer_.reduce(std::move(parts), is_root_ ? output(half) : part_of(slots.sum, 0, half.count));
  }

  /// What this rank contributes, or its node.
  [[nodiscard]] Slice own(const Block& half) const { return exchanges_ ? part_of(node_sum_, half) : input(half); }

  /// Combines a chunk on the node, beside the messages of the step.
  void exchange(int i) {
    if (!chunks_.contains(i)) return;
    const Block chunk = chunks_[i];
    const Problem p = problem_in_group(layout_.index(), layout_.members().size(), layout_.leader_index(), chunk.count);
    const Slice sum = layout_.is_leader() ? part_of(node_sum_, chunk) : input(chunk);
    on_node(composer_, layout_, {Operation::reduce, reduce_double_tree}, p, input(chunk), sum, Start::beside);
  }

  Layout layout_;
  NodeTrees trees_;
  Chunks chunks_;
  int depth_;  ///< more than that of any rank
  bool exchanges_;
  bool sends_;
  bool is_root_;
  Composer composer_;
  std::array<Slots, 2> slots_;
  Slice node_sum_{};
};

}  // namespace

Schedule reduce_hierarchical_pipeline(const Problem& p) { return UpPipeline(p).made(); }

LevelCost reduce_hierarchical_pipeline_cost(const Spread& s, double bytes) {
  return cost_of_node_trees(s, Operation::reduce, bytes);
}

}  // namespace tutti::schedules
