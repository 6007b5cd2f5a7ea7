// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/parts.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/copy.hpp"

namespace tutti::detail::shm {
namespace {

/// Windows that a ring holds: one is filled or emptied while the other ranks use the one before it.
constexpr std::uint64_t places = 2;

/// The most room in a ring for one part of one window, in whole lines. It holds those for the other ranks, and the
/// result.
std::size_t room_of(int size) {
  return stream_bytes / (places * static_cast<std::size_t>(size)) / cache_line * cache_line;
}

void tell(std::atomic<std::uint64_t>& word, const Exchange& exchange, std::uint64_t windows) {
  word.store(tagged(exchange.generation, windows), std::memory_order_release);
  exchange.arena->wake();
}

/// A rank's words: how many windows it has combined, and how many it has taken.
std::atomic<std::uint64_t>& combined_word(const Exchange& exchange, int rank) {
  return exchange.cell(rank).work.finished;
}
std::atomic<std::uint64_t>& taken_word(const Exchange& exchange, int rank) {
  return exchange.cell(rank).progress.consumed;
}

bool has_reached(const std::atomic<std::uint64_t>& word, const Exchange& exchange, std::uint64_t windows) {
  return count_of(word.load(std::memory_order_acquire), exchange.generation) >= windows;
}

template <typename Predicate>
bool all_others(const Exchange& exchange, const Predicate& predicate) {
  for (int rank = 0; rank < exchange.arena->size(); ++rank)
    if (rank != exchange.arena->rank() && !predicate(rank)) return false;
  return true;
}

}  // namespace

std::size_t Parts::share_of(std::size_t unit, int size) { return room_of(size) / unit * unit; }

void Parts::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  Arena& arena = *exchange.arena;
  ring_turn_ = arena.next_streamed();
  const std::size_t bytes = exchange.plan->signature.count * exchange.unit();
  const int size = arena.size();
  const auto ranks = static_cast<std::size_t>(size);
  share_ = share_of(exchange.unit(), size);
  windows_ = std::max<std::uint64_t>(ceil_div(bytes, share_ * ranks), 1);
  const std::size_t longest = ceil_div(exchange.plan->signature.count, ranks) * exchange.unit();
  room_ = std::max(combined_room(std::min(share_, longest)), cache_line);
  static_cast<void>(arena.prepare_ring(RingKind::near));
  ring_ = arena.take_ring(RingKind::near, ring_turn_, std::min(places, windows_) * ranks * room_);
  given_ = combined_ = taken_ = 0;
  takes_ = exchange.shape().has_result(exchange.arena->rank());
  streams_ = kernels::exceeds_core_caches(bytes);
}

ByteRange Parts::part_of(const Exchange& exchange, int rank, std::uint64_t window) const {
  const auto size = static_cast<std::size_t>(exchange.arena->size());
  const std::size_t unit = exchange.unit();
  const std::size_t whole = share_ / unit * size;
  const std::size_t begin = window * whole;
  const std::size_t count = std::min(whole, exchange.plan->signature.count - begin);
  const Block block = schedules::even_block(count, exchange.arena->size(), rank);
  return {(begin + block.offset) * unit, block.count * unit};
}

std::byte* Parts::given_place(const Exchange& exchange, int giver, int to, std::uint64_t window) const {
  const Arena& arena = *exchange.arena;
  const auto index = window % places * static_cast<std::size_t>(arena.size()) + static_cast<std::size_t>(to);
  const std::size_t ring = giver == arena.rank() ? ring_.offset : exchange.descriptor(giver).ring.offset;
  return arena.in_part(giver, ring) + index * room_;
}

// A rank gives itself nothing, so the place for that holds its result.
std::byte* Parts::result_place(const Exchange& exchange, int rank, std::uint64_t window) const {
  return given_place(exchange, rank, rank, window);
}

bool Parts::can_give(const Exchange& exchange) const {
  if (given_ == windows_) return false;
  if (given_ == 0) return exchange.arena->are_streamed(ring_.before);
  return given_ < places || all_others(exchange, [&](int rank) {
           return has_reached(combined_word(exchange, rank), exchange, given_ - places + 1);
         });
}

void Parts::give(const Exchange& exchange) {
  const int me = exchange.arena->rank();
  for (int i = 1; i < exchange.arena->size(); ++i) {
    const int to = (me + i) % exchange.arena->size();
    const ByteRange part = part_of(exchange, to, given_);
    if (part.bytes > 0) kernels::copy(given_place(exchange, me, to, given_), exchange.source + part.offset, part.bytes);
  }
  if (given_ == 0) {
    exchange.mark(0);
    exchange.descriptor(me).ring = {ring_.offset, room_, places};
  }
  exchange.publish(++given_);
}

bool Parts::can_combine(const Exchange& exchange) const {
  // In place, this rank's parts for the others must be in its ring before their results overwrite them.
  if (combined_ == given_) return false;
  const bool has_room = combined_ < places || all_others(exchange, [&](int rank) {
                          return !exchange.shape().has_result(rank) ||
                                 has_reached(taken_word(exchange, rank), exchange, combined_ - places + 1);
                        });
  return has_room &&
         all_others(exchange, [&](int rank) { return exchange.published(rank) > combined_ && exchange.agrees(rank); });
}

void Parts::combine(const Exchange& exchange) {
  const int me = exchange.arena->rank();
  const ByteRange part = part_of(exchange, me, combined_);
  Operands inputs(static_cast<std::size_t>(exchange.arena->size()));
  for (int from = 0; from < exchange.arena->size(); ++from)
    inputs[static_cast<std::size_t>(from)] =
        from == me ? exchange.source + part.offset : given_place(exchange, from, me, combined_);
  std::byte* result = result_place(exchange, me, combined_);
  if (part.bytes > 0) exchange.combine(inputs, result, part.bytes);
  tell(combined_word(exchange, me), exchange, ++combined_);
  if (takes_) copy_out(exchange, part, result);
}

bool Parts::can_take(const Exchange& exchange) const {
  return taken_ < combined_ && all_others(exchange, [&](int rank) {
           return has_reached(combined_word(exchange, rank), exchange, taken_ + 1);
         });
}

void Parts::take(const Exchange& exchange) {
  const int me = exchange.arena->rank();
  for (int i = 1; i < exchange.arena->size(); ++i) {
    const int from = (me + i) % exchange.arena->size();
    copy_out(exchange, part_of(exchange, from, taken_), result_place(exchange, from, taken_));
  }
  tell(taken_word(exchange, me), exchange, ++taken_);
}

void Parts::copy_out(const Exchange& exchange, const ByteRange& part, const std::byte* from) const {
  if (part.bytes == 0) return;
  if (streams_)
    kernels::stream_copy(exchange.output() + part.offset, from, part.bytes);
  else
    kernels::copy(exchange.output() + part.offset, from, part.bytes);
}

bool Parts::step(const Exchange& exchange) {
  while (takes_ ? taken_ < windows_ : combined_ < windows_) {
    const bool gives = can_give(exchange);
    if (gives) give(exchange);
    const bool combines = can_combine(exchange);
    if (combines) combine(exchange);
    const bool takes = takes_ && can_take(exchange);
    if (takes) take(exchange);
    if (!gives && !combines && !takes) return false;
  }
  return true;
}

}  // namespace tutti::detail::shm
