// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>

#include "backends/shm/cell_use.hpp"
#include "backends/shm/protocol.hpp"
#include "call/few.hpp"
#include "call/plan.hpp"
#include "operation/shape.hpp"

namespace tutti::detail::shm {

/// The addresses of the contributions to a combination, one a rank.
using Operands = Few<const void*, 16>;

/// One run of an operation, as protocols see it: its cell, its shape and this rank's buffers.
struct Exchange : CellUse {
  const Plan* plan = nullptr;
  const Binding* binding = nullptr;
  std::uint64_t counts = 0;           ///< digest of the counts that all ranks know, beyond what the signature holds
  const std::byte* source = nullptr;  ///< this rank's input: the caller's buffer, or a scaled or saved copy
  /// Of a v-form, some of whose blocks go another way: the sizes of those that are meant, in bytes.
  std::size_t least = 0;
  std::size_t most = std::numeric_limits<std::size_t>::max();
  std::uint64_t described = 1;  ///< flag from which on a rank's buffers are described

  /// The call of one rank, before it has a cell.
  [[nodiscard]] static Exchange of(Arena& arena, const Plan& plan, const Binding& binding) {
    const void* source = plan.signature.operation == Operation::bcast ? binding.output : binding.input;
    Exchange exchange{{&arena}, &plan, &binding};
    exchange.source = static_cast<const std::byte*>(source);
    return exchange;
  }
  void use_ordered(const Turn& turn) {
    CellUse::use_ordered(turn);
    add_counts();
  }
  void use_persistent(const Turn& turn) {
    CellUse::use_persistent(turn);
    add_counts();
  }

  [[nodiscard]] Shape shape() const { return {plan->signature, *binding, arena->rank(), arena->size()}; }
  [[nodiscard]] std::size_t unit() const { return plan->signature.type.size(); }
  [[nodiscard]] std::byte* output() const { return static_cast<std::byte*>(binding->output); }

  /// Returns true if rank `from` gives data to rank `to`, and the block is meant. One of them is this rank.
  [[nodiscard]] bool flows(int from, int to) const {
    const Shape who = shape();
    if (!who.flows(from, to) || !who.is_varying()) return who.flows(from, to);
    const std::size_t bytes = (from == who.rank() ? who.given(to) : who.taken(from)).count * unit();
    return bytes >= least && bytes <= most;
  }

  [[nodiscard]] Descriptor& descriptor(int rank) const {
    return *reinterpret_cast<Descriptor*>(cell(rank).lines[0].payload);
  }
  /// The number of chunks that a rank has published.
  [[nodiscard]] std::uint64_t published(int rank) const {
    const std::uint64_t count = count_of(cell(rank).lines[0].flag.load(std::memory_order_acquire), generation);
    return count < mark_bit ? count : 0;
  }
  /// Returns true if a rank that has published makes the same call. If not, its data must not be touched, nor its
  /// memory be written; check_agreement() then finds the reason.
  [[nodiscard]] bool agrees(int rank) const { return descriptor(rank).marked >> size_bits == mark_of(history); }
  /// The size of the largest block that a rank gives which has published and agrees, in bytes.
  [[nodiscard]] std::size_t largest_of(int rank) const { return descriptor(rank).marked & most_size; }
  /// With the first data that this rank publishes: takers poll this line from the begin of the call on, so each store
  /// before has to fetch it back from them.
  void mark(std::size_t largest) const { descriptor(arena->rank()).marked = marked_size(mark_of(history), largest); }
  void publish(std::uint64_t chunks) const {
    cell(arena->rank()).lines[0].flag.store(tagged(generation, chunks), std::memory_order_release);
    arena->wake();
  }

  /// Tells waiting ranks which call this rank makes. Costs least behind the first data, which other ranks wait for, and
  /// where the last call in this cell was such a call too.
  void put_record() const {
    Record& record = cell(arena->rank()).record;
    // A rank that gives nothing may begin the next start of a persistent call while others read its record of this one,
    // which then says the same.
    if (record.digest != (plan->digest ^ counts)) [[unlikely]]
      describe(record);
    else if (record.history != history)
      record.history = history;
    record.generation.store(generation, std::memory_order_release);
  }
  /// Writes all of a record but its generation.
  void describe(Record& record) const;

  [[nodiscard]] bool is_in_place() const { return source == output(); }
  /// Returns true if this rank writes in place over data that other ranks may still have to read.
  [[nodiscard]] bool overwrites_source() const { return overwrites_source(*plan, *binding, arena->size()); }
  [[nodiscard]] static bool overwrites_source(const Plan& plan, const Binding& binding, int size) {
    const Operation operation = plan.signature.operation;
    if (!binding.in_place || !tutti::is_split(operation) || has_root(operation)) return false;
    const auto protocol = static_cast<Protocol>(plan.protocol);
    return tutti::combines(operation, size) || protocol == Protocol::single_copy || protocol == Protocol::automatic;
  }
  /// Copies this rank's own block from source to output, unless it is already there.
  void copy_own() const;
  /// A length in bytes, in elements.
  [[nodiscard]] std::size_t elements(std::size_t bytes) const {
    const Signature& s = plan->signature;
    // A division takes longer than a short combination.
    return bytes == s.count * s.type.size() ? s.count : bytes / s.type.size();
  }
  /// Computes output = inputs[0] op inputs[1] op …, in that order, rounded once; divides an average.
  void combine(std::span<const void* const> inputs, std::byte* result, std::size_t bytes) const;
  /// The same for a part of the ranks: leaves the division of an average to the last combination.
  void combine_part(std::span<const void* const> inputs, std::byte* result, std::size_t bytes) const;

 private:
  void add_counts() {
    counts = plan->signature.operation == Operation::reduce_scatter ? digest_of_counts() : 0;
    history ^= counts;
  }
  [[nodiscard]] std::uint64_t digest_of_counts() const;
};

inline void Exchange::describe(Record& record) const {
  const Signature& s = plan->signature;
  record.history = history;
  record.digest = plan->digest ^ counts;
  record.count = s.count;
  record.unit = s.type.size();
  record.root = s.root;
  record.call = flight::call_of(s.operation);
  record.kind = static_cast<std::uint8_t>(s.kind);
  record.type = static_cast<std::uint8_t>(s.type.kind());
  record.op = static_cast<std::uint8_t>(s.op);
  record.protocol = plan->protocol;
  record.refused = false;
}

/// The size of the largest block that any rank gives, if all ranks know it, in bytes.
[[nodiscard]] inline std::size_t largest_block(const Exchange& exchange) {
  const Signature& s = exchange.plan->signature;
  if (s.operation != Operation::reduce_scatter) return s.count * s.type.size();
  const auto& counts = exchange.binding->recv_counts;
  return *std::max_element(counts.begin(), counts.end()) * s.type.size();
}

}  // namespace tutti::detail::shm
