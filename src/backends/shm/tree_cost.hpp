// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/groups.hpp"
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
  Chain chain{};  ///< the longest one
};

[[nodiscard]] inline TreeShape shape_of(const Groups& groups) { return {groups.size(), groups.longest_chain()}; }
/// That of ranks whose places are unknown.
[[nodiscard]] inline TreeShape unplaced_shape(int size) { return {size, unplaced_chain(size)}; }

/// Fewer ranks always exchange their lines directly: a tree would save them one line at most.
inline constexpr int fewest_tree_ranks = 5;

/// Returns true if a call by `tree` can be faster than an exchange of lines between all ranks.
[[nodiscard]] bool is_worth_a_tree(const TreeShape& shape);

/// Predicts the time of a call by `tree`, in seconds: the lines that change hands on the longest chain. A line that
/// several ranks read counts once for each of them, because its home serves them one after the other.
[[nodiscard]] double tree_seconds(const Signature& signature, const TreeShape& shape, const LineCosts& costs);

}  // namespace tutti::detail::shm
