// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/algorithms.hpp"
#include "schedules/hierarchical.hpp"
#include "schedules/levels.hpp"
#include "schedules/node_trees.hpp"

namespace tutti::schedules {
namespace {

/// One rank's part of the pipeline.
class DownPipeline {
 public:
  explicit DownPipeline(const Problem& p)
      : layout_(p, Layout::Leaders::root),
        trees_(layout_, p),
        chunks_({0, p.count}, NodeTrees::chunks(layout_.spread(), bytes_of(p))),
        by_messages_(!layout_.shares_nodes()) {}

  Schedule made() && {
    for (int step = 0; step < NodeTrees::hops(layout_.spread()) + chunks_.number(); ++step) {
      for (int tree = 0; tree < 2; ++tree) pass_on(tree, step);
      if (!by_messages_) exchange(step - trees_.leader_depth());
      composer_.end_round();
    }
    return composer_.finish(true);
  }

 private:
  void pass_on(int tree, int step) {
    const NodeTrees::Node& node = trees_[tree];
    const int given = step - node.depth;
    const int taken = given + 1;
    const auto half = [&](int i) { return output(NodeTrees::half(chunks_[i], tree)); };
    if (!by_messages_ && !layout_.is_leader()) return;
    if (node.parent != DoubleTree::none && chunks_.contains(taken)) composer_.recv(node.parent, half(taken));
    if (!chunks_.contains(given)) return;
    for (const int child : node.children(by_messages_)) composer_.send(child, half(given));
  }

  /// Gives the members the leader's chunk, beside the messages of the step.
  void exchange(int i) {
    if (!chunks_.contains(i)) return;
    const Block chunk = chunks_[i];
    const Problem p = problem_in_group(layout_.index(), layout_.members().size(), layout_.leader_index(), chunk.count);
    on_node(composer_, layout_, {Operation::bcast, bcast_double_tree}, p, {}, output(chunk), Start::beside);
  }

  Layout layout_;
  NodeTrees trees_;
  Chunks chunks_;
  bool by_messages_;
  Composer composer_;
};

}  // namespace

Schedule bcast_hierarchical_pipeline(const Problem& p) { return DownPipeline(p).made(); }

LevelCost bcast_hierarchical_pipeline_cost(const Spread& s, double bytes) {
  return cost_of_node_trees(s, Operation::bcast, bytes);
}

}  // namespace tutti::schedules
