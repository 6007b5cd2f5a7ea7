// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "backends/shm/groups.hpp"
#include "backends/shm/layout.hpp"
#include "operation/signature.hpp"

namespace tutti::detail::shm {

/// The figures of a machine by which the tree is priced, in seconds.
struct LineCosts {
  double line_seconds = 0;       ///< a cache line that changes hands between two cores
  double next_line_seconds = 0;  ///< a further line of the same run
  double switch_seconds = 0;     ///< a turn of processes that share a core; 0: each has a core
};

/// What the price of a call by `tree` depends on.
struct TreeShape {
  int size = 0;
  Chain tree{};      ///< the longest one up to a root or down
  Chain exchange{};  ///< the longest one where all ranks exchange
};

/// That of ranks whose places are known.
[[nodiscard]] inline TreeShape shape_of(std::span<const Place> places) {
  return {static_cast<int>(places.size()), Groups(places).longest_chain(), exchange_groups(places).longest_chain()};
}
/// That of ranks whose places are unknown.
[[nodiscard]] inline TreeShape unplaced_shape(int size) {
  return {size, unplaced_chain(size), unplaced_chain(size, most_in_exchange)};
}

/// Fewer ranks always exchange their lines directly: a tree would save them one line at most.
inline constexpr int fewest_tree_ranks = 5;

/// Returns true if a call by `tree` can be faster than an exchange of lines between all ranks.
[[nodiscard]] inline bool is_worth_a_tree(const TreeShape& shape) {
  return shape.size >= fewest_tree_ranks && shape.tree.levels > 1;
}

/// Returns true if a call by `tree` is an exchange of all ranks at each level (TreeExchange): where all need the
/// result, and a cell has lines for the data of each level.
/// levels: of the groups of an exchange; 0: there are none.
[[nodiscard]] inline bool is_exchanged(const Signature& signature, int levels) {
  if (levels == 0) return false;
  if (signature.operation == Operation::barrier) return true;
  const std::size_t lines = lines_of(signature.count * signature.type.size());
  return signature.operation == Operation::allreduce && lines * static_cast<std::size_t>(levels) <= cell_lines;
}

/// Predicts the time of a call by `tree`, in seconds: the lines that change hands on the longest chain. A line that
/// several ranks read counts once for each of them, because its home serves them one after the other.
[[nodiscard]] inline double tree_seconds(const Signature& signature, const TreeShape& shape, const LineCosts& costs) {
  const bool exchanges = is_exchanged(signature, shape.exchange.levels);
  const Chain& chain = exchanges ? shape.exchange : shape.tree;
  const bool one_way = exchanges || signature.operation == Operation::bcast || signature.operation == Operation::reduce;
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
