// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "schedules/registry.hpp"

namespace tutti::schedules {

/// The flat algorithm for a phase of a hierarchical one among `size` ranks, with `bytes` as in cost_of(): the one
/// with the least rounds, messages and bytes at this pace. A function of facts that all ranks share, as a schedule and
/// its cost both need it. keep: only one that keeps rank order.
[[nodiscard]] const Algorithm& flat_for(Operation operation, int size, double bytes, const LevelPace& pace,
                                        KeepOrder keep = KeepOrder::no);

/// The ranks, in the mean of its rounds, that send as much at once as the busiest one.
[[nodiscard]] double senders_of(const Algorithm& algorithm, int size, double bytes, double start);

/// Fraction of a rank's work on messages that overlaps the bytes that move; see mostly_hidden. A root overlaps its
/// sends. Receives at a root, or at a rank of a tree that reduces, overlap little or not, because they arrive together.
/// In a tree of blocks a rank works on its messages before or after the long one of its round.
[[nodiscard]] double hidden_part(const Algorithm& algorithm);

/// The messages of a round.
[[nodiscard]] constexpr double at_once(const Cost& cost) {
  return cost.rounds > 0 ? std::max(1.0, cost.messages / cost.rounds) : 1;
}

/// The ranks that the messages of a round go to. Pieces of a rank's blocks go to one, and do not move faster.
[[nodiscard]] double partners_at_once(const Algorithm& algorithm, const Cost& cost);

/// What further messages of the rounds cost a rank at `message` each, beyond the starts of the first ones. A rank that
/// sends and receives is busy with both, but meanwhile the first message is under way.
[[nodiscard]] constexpr double further(const Cost& cost, double start, double message, bool both_ways) {
  const double one_way = (at_once(cost) - 1) * message;
  const double both = both_ways ? 2 * at_once(cost) * message - start : 0;
  return cost.rounds * std::max(one_way, both);
}

/// The times, or weights, of work on messages and of bytes that move. The last message of a round, which takes `last`,
/// begins after the work on those before.
[[nodiscard]] constexpr double together(double messages, double bytes, double hidden, double last) {
  return std::max(std::max(messages, bytes) + (1 - hidden) * std::min(messages, bytes), messages + last);
}

/// Whether each rank sends and receives in the same rounds of a flat algorithm.
[[nodiscard]] bool goes_both_ways(const Algorithm& algorithm);

/// The part of a rank's bytes that move while their receiver sends none back: all where data pass along a ring or a
/// tree, none where two ranks exchange. Several messages at once have rates of their own.
[[nodiscard]] double passing_part(const Algorithm& algorithm);

/// The messages of a flat algorithm between nodes that follow one another.
[[nodiscard]] Flow flow_of(const Algorithm& algorithm);

/// What becomes of its rounds and bytes there.
[[nodiscard]] Factors factors_of(const Algorithm& algorithm, const Cost& cost, const LevelPace& pace);

}  // namespace tutti::schedules
