// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/tree_cost.hpp"

#include "backends/shm/layout.hpp"

namespace tutti::detail::shm {

bool is_worth_a_tree(const TreeShape& shape) { return shape.size >= fewest_tree_ranks && shape.chain.levels > 1; }

double tree_seconds(const Signature& signature, const TreeShape& shape, const LineCosts& costs) {
  const Chain& chain = shape.chain;
  const bool one_way = signature.operation == Operation::bcast || signature.operation == Operation::reduce;
  const double ways = one_way ? 1 : 2;
  const std::size_t block = signature.operation == Operation::barrier ? 0 : signature.count * signature.type.size();
  const std::size_t moved = block * static_cast<std::size_t>(chain.lines);
  // The first line of a level waits for one more, that of the level before. Ranks that share cores all have a turn
  // before a leader has its next.
  const double hands = costs.line_seconds * (chain.lines + chain.levels);
  const double turns = costs.switch_seconds * chain.levels * shape.size;
  return ways * (hands + turns + costs.next_line_seconds * static_cast<double>(lines_of(moved)));
}

}  // namespace tutti::detail::shm
