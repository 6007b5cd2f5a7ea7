// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "backends/shm/arena.hpp"
#include "call/backend.hpp"

namespace tutti::detail::shm {

/// One run of a call in a cell: the words by which ranks tell it from other calls.
struct CellUse {
  Arena* arena = nullptr;
  int number = 0;             ///< number of the cell
  Generation generation = 0;  ///< generation of this use of the cell
  std::uint64_t history = 0;  ///< digest of this call and of those that must have come before it

  /// Takes the cell of a turn that is matched by order.
  void use_ordered(const Turn& turn) {
    number = static_cast<int>(turn.number % ordered_cells);
    generation = static_cast<Generation>(turn.number) + 1;
    history = turn.history;
  }
  /// Takes the cell of the next start of a persistent operation, which owns those from turn.number on.
  void use_persistent(const Turn& turn) {
    const int first = static_cast<int>(turn.number);
    generation = arena->next_generation(first);
    number = first + static_cast<int>(generation % starts_apart);
    history = turn.history;
  }
  /// Returns true once all ranks have finished the use of this cell before.
  [[nodiscard]] bool is_free() const {
    return is_ordered() ? arena->is_free(generation - 1) : arena->is_start_free(number, generation);
  }
  /// Records that this rank has finished it.
  void finish() const {
    if (is_ordered())
      arena->complete(generation - 1);
    else
      cell(arena->rank()).progress.done.store(generation, std::memory_order_release);
    arena->wake();
  }

  [[nodiscard]] bool is_ordered() const { return number < ordered_cells; }
  [[nodiscard]] Cell& cell(int rank) const { return arena->cell(rank, number); }
  /// The flag of a line.
  [[nodiscard]] std::uint64_t line_flag() const { return tagged(generation, mark_of(history)); }
};

/// Takes the cells of a persistent call; an invalid turn, on all ranks, if none are left. Collective. Ranks ask one
/// another only once every cell has been given: as a blocking call does, with its timeout (0: none). digest: of the
/// call.
[[nodiscard]] Turn take_persistent_turn(Context& context, std::uint64_t digest, std::chrono::nanoseconds timeout);

}  // namespace tutti::detail::shm
