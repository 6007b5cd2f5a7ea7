// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/slots.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace tutti::detail::shm {
namespace {

/// Bytes of a slot that the block for one taker has.
std::size_t share_of(const Geometry& who) {
  if (!who.is_split()) return slot_bytes;
  return slot_bytes / static_cast<std::size_t>(who.size()) / cache_line * cache_line;
}

/// Bytes of all blocks as they lie in the source, where all ranks know them; else more than any slot has.
std::size_t packed_bytes(const Exchange& exchange, const Geometry& who) {
  if (who.is_varying()) return slot_bytes + 1;
  if (!who.is_split()) return exchange.plan->signature.count * exchange.unit();
  const std::size_t blocks = who.operation() == Operation::reduce_scatter ? 1 : static_cast<std::size_t>(who.size());
  return exchange.plan->signature.count * blocks * exchange.unit();
}

}  // namespace

bool Slots::fits(const Exchange& exchange, std::size_t largest) { return largest <= share_of(exchange.geometry()); }

void Slots::begin(const Exchange& exchange, std::size_t largest) {
  const Geometry who = exchange.geometry();
  base_ = 0;
  produced_ = 0;
  consumed_ = 0;
  next_ = 0;
  share_ = share_of(who);
  const std::size_t packed = packed_bytes(exchange, who);
  packed_ = who.is_split() && packed <= slot_bytes;
  in_line_ = packed <= line_bytes;
  chunks_ = 1;
  window_ = largest;
  if (packed_ || largest <= share_) return;
  const std::size_t grain = who.combines() ? exchange.unit() : 1;
  share_ = share_ / 2 / cache_line * cache_line;
  window_ = share_ / grain * grain;
  chunks_ = (largest + window_ - 1) / window_;
}

void Slots::resume(const Exchange& exchange, std::size_t largest) {
  if (fits(exchange, largest)) {
    window_ = largest;
    return;
  }
  begin(exchange, largest);
  base_ = 1;
}

std::size_t Slots::length(std::size_t block_bytes, std::size_t begin) const {
  return begin >= block_bytes ? 0 : std::min(window_, block_bytes - begin);
}

std::byte* Slots::place(const Exchange& exchange, int giver, int taker, std::uint64_t chunk) const {
  Arena& arena = *exchange.arena;
  std::byte* base = in_line_ ? exchange.cell(giver).line.payload : arena.slot(giver, exchange.number);
  const Geometry who = exchange.geometry();
  if (packed_) {
    // As in the giver's source, where this rank's block is where its own block for the taker is.
    return base + who.given(taker).offset * exchange.unit();
  }
  if (chunk % 2 == 1) base += slot_bytes / 2 / cache_line * cache_line;
  return who.is_split() ? base + static_cast<std::size_t>(taker) * share_ : base;
}

bool Slots::can_produce(const Exchange& exchange) const {
  if (produced_ == chunks_) return false;
  if (produced_ < 2) return true;
  const Geometry who = exchange.geometry();
  for (int to = 0; to < who.size(); ++to) {
    if (!who.flows(who.rank(), to)) continue;
    const std::uint64_t word = exchange.cell(to).progress.consumed.load(std::memory_order_acquire);
    if (count_of(word, exchange.generation) + 1 < produced_) return false;
  }
  return true;
}

void Slots::produce(const Exchange& exchange) {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  const std::size_t begin = produced_ * window_;
  for (int to = 0; to < who.size(); ++to) {
    if (!who.flows(me, to)) continue;
    const Block block = who.given(to);
    const std::size_t bytes = length(block.count * exchange.unit(), begin);
    if (bytes > 0)
      std::memcpy(place(exchange, me, to, produced_), exchange.source + block.offset * exchange.unit() + begin, bytes);
    if (!who.is_split()) break;  // all take the same
  }
  exchange.publish(base_ + ++produced_);
}

bool Slots::can_consume(const Exchange& exchange) {
  const Geometry who = exchange.geometry();
  for (; next_ < who.size(); ++next_)
    if (who.flows(next_, who.rank()) && exchange.published(next_) <= base_ + consumed_) return false;
  return true;
}

void Slots::take(const Exchange& exchange, std::size_t begin) {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  for (int i = 1; i < who.size(); ++i) {
    const int from = algorithms::wrap(me - i, who.size());
    if (!who.flows(from, me)) continue;
    const Block block = who.taken(from);
    const std::size_t bytes = length(block.count * exchange.unit(), begin);
    if (bytes > 0)
      std::memcpy(exchange.output() + block.offset * exchange.unit() + begin, place(exchange, from, me, consumed_),
                  bytes);
  }
}

void Slots::combine(const Exchange& exchange, std::size_t begin) {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  const Block part = who.part(me);
  const std::size_t bytes = length(part.count * exchange.unit(), begin);
  if (bytes == 0 || !who.has_result(me)) return;
  std::array<const void*, 16> few;
  std::vector<const void*> many;
  const auto count = static_cast<std::size_t>(who.contributions(me));
  const void** inputs = few.data();
  if (count > few.size()) {
    many.resize(count);
    inputs = many.data();
  }
  for (int from = 0; from < who.contributions(me); ++from)
    inputs[from] = from == me ? exchange.source + part.offset * exchange.unit() + begin
                              : place(exchange, from, me, consumed_);
  exchange.combine({inputs, count}, exchange.output() + begin, bytes);
}

void Slots::consume(const Exchange& exchange) {
  const std::size_t begin = consumed_ * window_;
  if (exchange.geometry().combines())
    combine(exchange, begin);
  else
    take(exchange, begin);
  next_ = 0;
  ++consumed_;
  if (chunks_ == 1) return;
  exchange.cell(exchange.arena->rank())
      .progress.consumed.store(tagged(exchange.generation, consumed_), std::memory_order_release);
  exchange.arena->wake();
}

bool Slots::step(const Exchange& exchange) {
  while (consumed_ < chunks_) {
    const bool produces = can_produce(exchange);
    if (produces) produce(exchange);
    // In place, a chunk must have been given before its place is written.
    const bool consumes = consumed_ < produced_ && can_consume(exchange);
    if (consumes) consume(exchange);
    if (!produces && !consumes) return false;
  }
  return true;
}

}  // namespace tutti::detail::shm
