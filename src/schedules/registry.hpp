// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "schedules/problem.hpp"
#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// What an algorithm costs, as closed formulas: the planner's input and the checker's target (critical_path()). Each
/// figure is its sum along the longest chain of dependent rounds: a round waits for the one before on its own rank and
/// for both ends of its messages. So it counts what ranks do one after the other, be it on different ranks, and may be
/// more than any one rank does. In a round each figure is that of the busier end of a message.
struct Cost {
  double rounds = 0;         ///< rounds with a transfer
  double bytes = 0;          ///< of a round those sent or received, whichever are more
  double reduced_bytes = 0;  ///< bytes of input that local reductions read
  double copied_bytes = 0;   ///< bytes of local copies
  double messages = 0;       ///< of a round those sent or received, whichever are more: each costs, also side by side
};

/// How ranks are spread over nodes, as far as costs depend on it.
struct Spread {
  int size = 1;
  int nodes = 1;
  int most = 1;          ///< ranks of the node that has most
  bool even = true;      ///< all nodes have equally many
  bool adjacent = true;  ///< the ranks of each node follow one another
};

/// What a hierarchical algorithm costs on the links of a node and on those between nodes.
struct LevelCost {
  Cost on_node;
  Cost across;
  double senders = 1;  ///< ranks of a node that send to other nodes at one time
};

/// What a hierarchical algorithm asks of the layout.
enum class LayoutNeed : std::uint8_t { none, even, adjacent };

/// One algorithm for one operation.
struct Algorithm {
  Operation operation;
  std::string_view name;  ///< "ring"
  Schedule (*generate)(const Problem& problem);
  /// bytes: of the whole vector (bcast, reduce, allreduce, scan), of all blocks together (the others).
  Cost (*cost)(int size, double bytes);
  /// Keeps rank order: right for operations that do not commute.
  bool ordered = false;
  /// Combines all contributions to an element in one local step in rank order with one rounding: right for 16- and
  /// 8-bit floats with full accumulation, and for the reproducible mode.
  bool single_combine = false;
  /// Largest communicator it is a candidate for without being asked by name; 0: any.
  int max_size = 0;
  /// Composed of phases on each node and between nodes. Keeps rank order only where each node's ranks are adjacent.
  bool hierarchical = false;
  LayoutNeed need = LayoutNeed::none;
  /// Of a hierarchical one, whose `cost` is that of all ranks on one node.
  LevelCost (*level_cost)(const Spread& spread, double bytes) = nullptr;
  /// Whether it works for that many ranks; nullptr: for any number. Not to be generated or priced where it does not.
  bool (*fits)(int size) = nullptr;
};

/// Whether an algorithm works for that many ranks.
[[nodiscard]] inline bool fits(const Algorithm& algorithm, int size) {
  return algorithm.fits == nullptr || algorithm.fits(size);
}

/// All flat algorithms of an operation, the default for an unknown machine first.
[[nodiscard]] std::span<const Algorithm> algorithms_of(Operation operation);

/// All hierarchical algorithms of an operation; none for gatherv, scatterv and alltoallv.
[[nodiscard]] std::span<const Algorithm> hierarchical_algorithms_of(Operation operation);

/// By name, flat or hierarchical, or nullptr.
[[nodiscard]] const Algorithm* find_algorithm(Operation operation, std::string_view name);

[[nodiscard]] std::string_view operation_name(Operation operation);

}  // namespace tutti::schedules
