// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "support/proof/rendezvous.hpp"
#include "support/proof/world.hpp"

namespace tutti::schedules {

/// What a check found. `problem` names rank, round and slice of the first fault; empty where there is none.
struct Report {
  bool ok = true;
  std::string problem;
  /// From check(): the most that any rank does, with one element as the unit of bytes. From check_cost(): see there.
  Cost measured{};
};

enum class Memory { separate, in_place };

/// Runs the schedules of all ranks in one process, on symbolic contributions in place of numbers, and shows that
///   - every message has its counterpart of the same size, and none goes to the rank itself or is empty by mistake;
///   - nothing deadlocks though a send ends only when its receive is posted (rendezvous);
///   - no two transfers of a round write the same memory, or one what another sends;
///   - all slices lie inside their buffers, nothing unwritten is read, and nothing writes the input;
///   - every contribution is in every result exactly once, and nothing but the result is written in the output;
///   - ranks are in order where the algorithm says `ordered`, combined in one step where it says `single_combine`, and
///     all ranks associate alike in an allreduce;
///   - a barrier ends on no rank before it began on all.
/// in_place: with input and output in one memory on ranks whose schedule is alias_safe. No MPI; not collective.
///
/// One order of progress stands for all: what a rank does next depends on messages, never on which came first, and the
/// transfers of a round touch no memory in common, so every order that MPI may choose has the same results.
[[nodiscard]] Report check(const Algorithm& algorithm, const World& world, const std::vector<Schedule>& schedules,
                           Memory memory, const Order& order = {});

/// Generates the schedules and checks them in separate memory and in place. `measured` is of the former.
[[nodiscard]] Report check(const Algorithm& algorithm, const World& world);

/// Whether cost_of() is what the schedules cost: see critical_path(), whose figures are `measured`, in bytes. The
/// blocks must divide evenly for the formulas to be exact.
[[nodiscard]] Report check_cost(const Algorithm& algorithm, const World& world);

}  // namespace tutti::schedules
