// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "backends/shm/arena.hpp"
#include "backends/shm/geometry.hpp"
#include "call/plan.hpp"

namespace tutti::detail::shm {

/// One run of an operation, as protocols see it: its cell, its geometry and this rank's buffers.
struct Exchange {
  Arena* arena = nullptr;
  const Plan* plan = nullptr;
  const Binding* binding = nullptr;
  int number = 0;                     ///< number of the cell
  Generation generation = 0;          ///< generation of this use of the cell
  const std::byte* source = nullptr;  ///< this rank's input: the caller's buffer, or a scaled or saved copy

  /// The call of one rank, before it has a cell.
  [[nodiscard]] static Exchange of(Arena& arena, const Plan& plan, const Binding& binding) {
    const void* source = plan.signature.operation == Operation::bcast ? binding.output : binding.input;
    return {&arena, &plan, &binding, 0, 0, static_cast<const std::byte*>(source)};
  }
  /// Takes the cell of the turn-th call of the communicator.
  void use_ordered(std::uint64_t turn) {
    number = static_cast<int>(turn % ordered_cells);
    generation = turn + 1;
  }

  [[nodiscard]] Geometry geometry() const { return {plan->signature, *binding, arena->rank(), arena->size()}; }
  [[nodiscard]] std::size_t unit() const { return plan->signature.type.size(); }
  [[nodiscard]] std::byte* output() const { return static_cast<std::byte*>(binding->output); }
  [[nodiscard]] Cell& cell(int rank) const { return arena->cell(rank, number); }

  [[nodiscard]] Descriptor& descriptor(int rank) const {
    return *reinterpret_cast<Descriptor*>(cell(rank).lines[0].payload);
  }
  /// The number of chunks that a rank has published.
  [[nodiscard]] std::uint64_t published(int rank) const {
    return count_of(cell(rank).lines[0].flag.load(std::memory_order_acquire), generation);
  }
  void publish(std::uint64_t chunks) const {
    cell(arena->rank()).lines[0].flag.store(tagged(generation, chunks), std::memory_order_release);
    arena->wake();
  }

  /// Returns true if this rank writes in place over data that other ranks may still have to read.
  [[nodiscard]] bool overwrites_source() const;
  /// Copies this rank's own block from source to output, unless it is already there.
  void copy_own() const;
  /// Computes output = inputs[0] op inputs[1] op …, in that order, rounded once; divides an average.
  void combine(std::span<const void* const> inputs, std::byte* result, std::size_t bytes) const;
  /// The same for a part of the ranks: leaves the division of an average to the last combination.
  void combine_part(std::span<const void* const> inputs, std::byte* result, std::size_t bytes) const;
};

/// The size of the largest block that any rank gives, if all ranks know it, in bytes.
[[nodiscard]] inline std::size_t largest_block(const Exchange& exchange) {
  const Signature& s = exchange.plan->signature;
  if (s.operation != Operation::reduce_scatter) return s.count * s.type.size();
  const auto& counts = exchange.binding->recv_counts;
  return *std::max_element(counts.begin(), counts.end()) * s.type.size();
}

}  // namespace tutti::detail::shm
