// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "algorithms/problem.hpp"
#include "algorithms/schedule.hpp"

namespace tutti::algorithms {

/// What an algorithm costs the slowest rank, as closed formulas: the planner's input and the checker's target.
struct Cost {
  double rounds = 0;         ///< rounds with a transfer
  double bytes = 0;          ///< bytes sent or received, whichever is more
  double reduced_bytes = 0;  ///< bytes of input that local reductions read
  double copied_bytes = 0;   ///< bytes of local copies
  double messages = 0;       ///< messages sent or received, whichever is more: several of one round still cost each
};

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
};

/// All algorithms of an operation, the default for an unknown machine first.
[[nodiscard]] std::span<const Algorithm> algorithms_of(Operation operation);

/// By name, or nullptr.
[[nodiscard]] const Algorithm* find_algorithm(Operation operation, std::string_view name);

[[nodiscard]] std::string_view operation_name(Operation operation);

}  // namespace tutti::algorithms
