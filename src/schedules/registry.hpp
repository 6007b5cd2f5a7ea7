// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "schedules/distances.hpp"
#include "schedules/problem.hpp"
#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// Costs of an algorithm as closed formulas: the planner's input and the checker's target (critical_path()). Each
/// figure is a sum along the longest chain of dependent rounds. A round waits for the round before it on its own rank
/// and for both ends of its messages, so a figure adds up work that follows one another on different ranks too, and may
/// exceed the work of any single rank. In each round the busier end of a message counts.
struct Cost {
  double rounds = 0;         ///< rounds with a transfer
  double bytes = 0;          ///< bytes sent or received in a round, whichever are more
  double reduced_bytes = 0;  ///< bytes of input that local reductions read
  double copied_bytes = 0;   ///< bytes of local copies
  double messages = 0;       ///< sent or received in a round, whichever are more; concurrent ones cost too
};

/// How ranks are spread over nodes, as far as costs depend on it.
struct Spread {
  int size = 1;
  int nodes = 1;
  int most = 1;          ///< ranks of the largest node
  int least = 1;         ///< ranks of the smallest node
  bool adjacent = true;  ///< the ranks of each node follow one another
  Starts starts{};       ///< as in Problem

  /// All nodes have equally many ranks.
  [[nodiscard]] constexpr bool even() const { return most == least; }
};

/// An exchange on the largest node: bytes of its whole vector, or of all its blocks together.
struct NodeCost {
  Operation operation = Operation::barrier;
  double bytes = 0;
};

/// How far the messages of a flat algorithm go, from rank to rank.
enum class Reach : std::uint8_t {
  all,               ///< to ranks at all distances in the same rounds
  above,             ///< to all ranks above, in one round
  star,              ///< between the root and all others
  neighbours,        ///< to the next rank
  alternating,       ///< to the next rank and to the one before, in turn
  trees,             ///< along trees in which the ranks below one follow one another
  doubling,          ///< to ranks at distances that double from round to round
  branching,         ///< as doubling, along a tree, so that few ranks send far at a time
  growing,           ///< as doubling, with messages that are longer the farther they go
  shrinking,         ///< the same, with messages that are shorter the farther they go
  around,            ///< as doubling, with rank 0 behind the last one, so that some messages of each round leave a node
  growing_around,    ///< the same, with messages that are longer the farther they go
  shrinking_around,  ///< the same, with messages that are shorter the farther they go
};

/// The part of a rank's work on messages that hides behind the bytes that move, or the other way round.
inline constexpr double mostly_hidden = 0.8;
/// The same where messages of several ranks arrive at nearly the same time: some come from farther away.
inline constexpr double hardly_hidden = 0.05;

struct Algorithm;

/// One phase of a hierarchical algorithm over one level.
struct PhaseCost {
  Cost cost{};
  double senders = 1;     ///< ranks of a node that send at the same time
  bool both_ways = true;  ///< each rank sends and receives in the same rounds
  bool beside = false;    ///< on a node: its messages go in the rounds of those between nodes
  double hidden = mostly_hidden;
  Factors factors{};
  const Algorithm* flat = nullptr;  ///< that the phase goes by, if by one of the registry
};

/// Costs of a hierarchical algorithm on the links inside a node and on those between nodes.
struct LevelCost {
  std::vector<PhaseCost> on_node;  ///< by messages, on the largest node
  PhaseCost across;
  std::vector<NodeCost> exchanges{};  ///< in place of `on_node`, of each chunk, where phases on a node are exchanges
  Cost local{};                       ///< local work between the phases
  double chunks = 1;                  ///< of which one is on its node while another is between nodes
};

/// The layouts for which a hierarchical algorithm works.
enum class LayoutNeed : std::uint8_t { none, even, adjacent };

/// One algorithm for one operation.
struct Algorithm {
  Operation operation;
  std::string_view name;  ///< "ring"
  Schedule (*generate)(const Problem& problem);
  /// `bytes`: the whole vector (bcast, reduce, allreduce, scan), or all blocks together (the others).
  /// One that cuts its data into chunks has `chunked_cost` instead, by the start of a round (Starts::through).
  Cost (*whole_cost)(int size, double bytes);
  /// Keeps rank order, so that it suits operations that do not commute; a hierarchical one where Starts::order asks.
  bool ordered = false;
  /// Combines all contributions to an element in one local step in rank order with one rounding, so that it suits 16-
  /// and 8-bit floats with full accumulation, and the reproducible mode.
  bool single_combine = false;
  /// Largest communicator for which it is a candidate unless asked for by name; 0: any.
  int max_size = 0;
  /// Composed of phases on each node and between nodes. Keeps rank order only where each node's ranks are adjacent.
  bool hierarchical = false;
  LayoutNeed need = LayoutNeed::none;
  /// How far the messages of a flat algorithm go.
  Reach reach = Reach::all;
  /// Of the partners of one that exchanges with each in turn.
  Distances distances = Distances::doubling;
  /// The ranks of each node tell one another their counts before the schedule is made (Problem::told).
  bool tells_counts = false;
  /// The cost of a hierarchical algorithm; `whole_cost` is then its cost with all ranks on one node.
  LevelCost (*level_cost)(const Spread& spread, double bytes) = nullptr;
  Cost (*chunked_cost)(int size, double bytes, double start) = nullptr;
  /// Whether it works for that many ranks; nullptr: it works for any number. Do not generate or price it otherwise.
  bool (*fits)(int size) = nullptr;
};

/// The cost of a flat algorithm; of a hierarchical one with all ranks on one node.
[[nodiscard]] inline Cost cost_of(const Algorithm& algorithm, int size, double bytes, double start = Starts{}.through) {
  return algorithm.chunked_cost != nullptr ? algorithm.chunked_cost(size, bytes, start)
                                           : algorithm.whole_cost(size, bytes);
}

/// Whether an algorithm works for that many ranks.
[[nodiscard]] inline bool fits(const Algorithm& algorithm, int size) {
  return algorithm.fits == nullptr || algorithm.fits(size);
}

/// All flat algorithms of an operation, the default for an unknown machine first.
[[nodiscard]] std::span<const Algorithm> algorithms_of(Operation operation);

/// All hierarchical algorithms of an operation.
[[nodiscard]] std::span<const Algorithm> hierarchical_algorithms_of(Operation operation);

/// The flat or hierarchical algorithm of that name, or nullptr.
[[nodiscard]] const Algorithm* find_algorithm(Operation operation, std::string_view name);

}  // namespace tutti::schedules
