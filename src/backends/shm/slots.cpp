// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <tutti/error.hpp>

#include "backends/shm/agreement.hpp"
#include "backends/shm/chunks.hpp"
#include "backends/shm/line_run.hpp"
#include "backends/shm/registry.hpp"
#include "kernels/copy.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail::shm {
namespace {

/// The room for the size of a block, in front of it: a whole line, so that the block begins with one.
std::size_t head_of(const Shape& who) { return who.is_split() && who.is_varying() ? cache_line : 0; }

/// The part of a slot for one taker's block, in bytes.
std::size_t share_of(const Shape& who) {
  if (!who.is_split()) return slot_bytes;
  return slot_bytes / static_cast<std::size_t>(who.size()) / cache_line * cache_line - head_of(who);
}

/// The size of a chunk, in bytes: at most one page, so that the copies overlap. Smaller chunks do not pay, because each
/// flag costs a line that both sides want. A multiple of the element size if elements are combined.
std::size_t window_of(std::size_t largest, std::size_t share, std::size_t grain) {
  constexpr std::size_t most = 4096;
  const std::size_t wanted = std::min({largest, share, most});
  return std::max(wanted / grain, std::size_t{1}) * grain;
}

/// Returns true if all blocks of a rank fit its slot one behind another, although one of them exceeds an equal share:
/// blocks of unequal counts, or a share that was rounded down to whole lines.
bool is_packable(const Exchange& exchange) {
  const Signature& s = exchange.plan->signature;
  return tutti::is_split(s.operation) && !tutti::is_varying(s.operation) &&
         published_bytes(s, exchange.arena->size()) <= slot_bytes;
}

/// Returns true if this rank has something to give.
bool is_giver(const Shape& who) {
  for (int to = 0; to < who.size(); ++to)
    if (who.flows(who.rank(), to)) return true;
  return false;
}

}  // namespace

std::size_t Slots::most(const Exchange& exchange) {
  const std::size_t share = share_of(exchange.shape());
  return exchange.arena->direct_copy() ? std::min<std::size_t>(exchange.plan->slot_most, share) : share;
}

void Slots::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  own_copied_ = false;
  const std::size_t largest = largest_block(exchange);
  const auto protocol = static_cast<Protocol>(exchange.plan->protocol);
  by_ring_ = is_streamed(protocol);
  if (by_ring_) return use_ring(exchange, protocol == Protocol::wide ? RingKind::wide : RingKind::near, largest);
  exchange.arena->prepare_slot(exchange.number);
  cut(exchange, largest);
}

void Slots::start() {
  base_ = 0;
  more_ = 0;
  produced_ = 0;
  consumed_ = 0;
  next_ = 0;
  seen_ = std::numeric_limits<std::uint64_t>::max();
  ready_ = 0;
  free_ = 0;
}

void Slots::use_ring(const Exchange& exchange, RingKind kind, std::size_t largest) {
  start();
  is_packed_ = false;
  Arena& arena = *exchange.arena;
  const Operation operation = exchange.plan->signature.operation;
  const int size = arena.size();
  const std::size_t grain = tutti::combines(operation) ? exchange.unit() : 1;
  ring_turn_ = arena.next_streamed();
  past_caches_ = static_cast<Protocol>(exchange.plan->protocol) == Protocol::uncached;
  const bool gives = is_giver(exchange.shape());
  is_met_ = !goes_one_way(operation);
  RingCut cut = cut_for(kind, operation, largest, size, grain);
  held_chunks_ = kind == RingKind::wide ? cut_for(RingKind::near, operation, largest, size, grain).places : cut.places;
  if (gives && !arena.prepare_ring(kind)) {
    kind = RingKind::near;
    static_cast<void>(arena.prepare_ring(kind));
    cut = cut_for(kind, operation, largest, size, grain);
  }
  window_ = cut.chunk;
  chunks_ = cut.chunks;
  share_ = cut.share;
  places_ = cut.places;
  if (gives) ring_ = arena.take_ring(kind, ring_turn_, share_ * blocks_in_ring(operation, size));
}

void Slots::describe(const Exchange& exchange) const {
  exchange.mark(0);
  if (by_ring_) exchange.descriptor(exchange.arena->rank()).ring = {ring_.offset, share_, places_};
}

void Slots::cut(const Exchange& exchange, std::size_t largest) {
  const Shape who = exchange.shape();
  start();
  share_ = share_of(who);
  is_packed_ = largest > share_ && is_packable(exchange);
  window_ = window_of(largest, share_, who.combines() ? exchange.unit() : 1);
  places_ = std::max<std::uint64_t>(share_ / window_, 1);
  chunks_ = std::max<std::uint64_t>((largest + window_ - 1) / window_, 1);
  if (!is_packed_ && (largest > share_ || chunks_ <= places_)) return;
  // Whole even for elements that leave gaps, so that data that fits a slot never waits for a taker.
  window_ = largest;
  chunks_ = 1;
  places_ = 1;
}

void Slots::announce(const Exchange& exchange, bool has_copies) {
  exchange.arena->prepare_slot(exchange.number);
  by_ring_ = false;
  const std::size_t largest = exchange.shape().largest_given() * exchange.unit();
  exchange.mark(largest);
  own_copied_ = has_copies;
  cut(exchange, largest);
  // A single chunk, with room for all of it.
  window_ = std::max<std::size_t>(share_, 1);
  chunks_ = 1;
  places_ = 1;
  more_ = has_copies ? 1 : 0;
  if (fits(exchange, std::min(largest, exchange.most)))
    produce(exchange);
  else
    exchange.publish(1 + more_);
}

void Slots::resume(const Exchange& exchange, std::size_t largest) {
  if (largest <= share_) return;
  cut(exchange, largest);
  if (chunks_ > most_chunks)
    throw Error(ErrorCode::not_supported,
                fmt::format("{}: a block has {} bytes, more than slots can carry; cut it into several calls",
                            operation_name(exchange.plan->signature.operation), largest));
  base_ = 1;
}

std::size_t Slots::length(std::size_t block_bytes, std::size_t begin) const {
  return begin >= block_bytes ? 0 : std::min(window_, block_bytes - begin);
}

std::byte* Slots::place(const Exchange& exchange, int giver, int taker, std::uint64_t chunk) const {
  const Shape who = exchange.shape();
  if (by_ring_) {
    const RingPlace own{ring_.offset, share_, places_};
    const RingPlace& ring = giver == who.rank() ? own : exchange.descriptor(giver).ring;
    const auto index = static_cast<std::size_t>(who.is_split() ? schedules::wrap(taker - giver - 1, who.size()) : 0);
    return exchange.arena->in_part(giver, ring.offset) + index * ring.share + chunk % ring.places * window_;
  }
  std::byte* base = exchange.arena->slot(giver, exchange.number) + chunk % places_ * window_;
  if (is_packed_) return base + who.given(taker).offset * exchange.unit();
  const std::size_t head = head_of(who);
  return who.is_split() ? base + static_cast<std::size_t>(taker) * (share_ + head) + head : base;
}

bool Slots::can_produce(const Exchange& exchange) {
  if (produced_ == chunks_) return false;
  if (produced_ < free_) return true;
  if (produced_ == 0) {
    if (by_ring_ && !exchange.arena->are_streamed(ring_.before)) return false;
    free_ = places_;
    return true;
  }
  const Shape who = exchange.shape();
  std::uint64_t least = chunks_;
  for (int to = 0; to < who.size(); ++to) {
    if (!exchange.flows(who.rank(), to)) continue;
    const std::uint64_t word = exchange.cell(to).progress.consumed.load(std::memory_order_acquire);
    least = std::min(least, count_of(word, exchange.generation));
  }
  free_ = least + places_;
  return produced_ < free_;
}

void Slots::produce(const Exchange& exchange) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const std::size_t begin = produced_ * window_;
  bool gives = false;
  for (int to = 0; to < who.size(); ++to) {
    if (!who.flows(me, to)) continue;
    const Block block = who.given(to);
    std::byte* room = place(exchange, me, to, produced_);
    // Of blocks that go another way, too: their takers may expect them here.
    if (head_of(who) > 0 && base_ == 0) put_size(room, block.count * exchange.unit());
    if (!exchange.flows(me, to)) continue;
    gives = true;
    const std::size_t bytes = length(block.count * exchange.unit(), begin);
    const std::byte* from = exchange.source + block.offset * exchange.unit() + begin;
    if (bytes > 0 && past_caches_)
      kernels::stream_copy(room, from, bytes);
    else if (bytes > 0)
      kernels::copy(room, from, bytes);
    if (!who.is_split()) break;  // all takers take the same block
  }
  if (produced_ == 0 && !who.is_varying()) describe(exchange);
  ++produced_;
  // No rank polls the flag of a rank that gives nothing, unless sizes are published.
  if (gives || who.is_varying()) exchange.publish(base_ + produced_ + more_);
}

bool Slots::can_consume(const Exchange& exchange) {
  if (consumed_ < ready_) return true;
  const Shape who = exchange.shape();
  for (; next_ < who.size(); ++next_) {
    if (!exchange.flows(next_, who.rank())) continue;
    const std::uint64_t published = exchange.published(next_);
    if (published <= base_ + consumed_ || !exchange.agrees(next_)) return false;
    seen_ = std::min(seen_, published - base_);
  }
  // A rank that gives has finished its calls by rings before this one.
  if (by_ring_ && is_met_) exchange.arena->note_streamed(ring_turn_);
  // The line of a flag is fetched again only once all that it told of is taken.
  ready_ = std::min(seen_, chunks_);
  seen_ = std::numeric_limits<std::uint64_t>::max();
  next_ = 0;
  return true;
}

std::size_t Slots::told_bytes(const Exchange& exchange, int from) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const std::size_t largest = exchange.largest_of(from);
  if (!fits(exchange, largest)) return exchange.arena->pair(me, from, exchange.number).give_bytes;
  if (!who.is_split()) return largest;
  const std::size_t room = share_of(who) + head_of(who);
  return size_before(exchange.arena->slot(from, exchange.number) + static_cast<std::size_t>(me) * room + head_of(who));
}

void Slots::check_sizes(const Exchange& exchange) const {
  const Shape who = exchange.shape();
  const int me = who.rank();
  for (int from = 0; from < who.size(); ++from) {
    if (!exchange.flows(from, me)) continue;
    const std::size_t taken = who.taken(from).count * exchange.unit();
    const std::size_t given = told_bytes(exchange, from);
    if (given != taken) throw_sizes_differ(exchange, from, me, given, taken);
  }
}

void Slots::take(const Exchange& exchange, std::size_t begin) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  if (who.is_varying() && consumed_ == 0) check_sizes(exchange);
  for (int i = 1; i < who.size(); ++i) {
    const int from = schedules::wrap(me - i, who.size());
    if (!exchange.flows(from, me)) continue;
    const Block block = who.taken(from);
    const std::size_t bytes = length(block.count * exchange.unit(), begin);
    if (bytes > 0)
      kernels::copy(exchange.output() + block.offset * exchange.unit() + begin, place(exchange, from, me, consumed_),
                    bytes);
  }
}

void Slots::combine(const Exchange& exchange, std::size_t begin) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const Block part = who.part(me);
  const std::size_t bytes = length(part.count * exchange.unit(), begin);
  if (bytes == 0 || !who.has_result(me)) return;
  Operands inputs(static_cast<std::size_t>(who.contributions(me)));
  for (int from = 0; from < who.contributions(me); ++from)
    inputs[static_cast<std::size_t>(from)] =
        from == me ? exchange.source + part.offset * exchange.unit() + begin : place(exchange, from, me, consumed_);
  exchange.combine(inputs, exchange.output() + begin, bytes);
}

void Slots::consume(const Exchange& exchange) {
  const std::size_t begin = consumed_ * window_;
  if (exchange.shape().combines())
    combine(exchange, begin);
  else
    take(exchange, begin);
  ++consumed_;
  if (chunks_ <= (by_ring_ ? held_chunks_ : places_)) return;
  exchange.cell(exchange.arena->rank())
      .progress.consumed.store(tagged(exchange.generation, consumed_), std::memory_order_release);
  exchange.arena->wake();
}

bool Slots::step(const Exchange& exchange) {
  while (consumed_ < chunks_) {
    const bool produces = can_produce(exchange);
    if (produces) produce(exchange);
    // In place, a chunk must be published before its memory is overwritten.
    const bool consumes = consumed_ < produced_ && can_consume(exchange);
    if (consumes) consume(exchange);
    if (produces || consumes) continue;
    // There is nothing else to do: a good moment for the block that stays here.
    copy_own(exchange);
    return false;
  }
  return true;
}

void Slots::finish(const Exchange& exchange) {
  copy_own(exchange);
  if (by_ring_) exchange.arena->complete_streamed();
}

void Slots::copy_own(const Exchange& exchange) {
  if (own_copied_ || exchange.shape().combines()) return;
  exchange.copy_own();
  own_copied_ = true;
}

}  // namespace tutti::detail::shm
