// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/single_copy.hpp"

#include <fmt/format.h>

#include <array>
#include <tutti/error.hpp>
#include <vector>

#include "backends/shm/pieces.hpp"
#include "backends/shm/remote.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail::shm {
namespace {

Place place_of(const void* address) {
  Place place{reinterpret_cast<std::uint64_t>(address), 0, 0};
  Allocations::instance().find(address, place.allocation, place.offset);
  return place;
}

/// In a blocking call no rank is away: a single piece of another rank is best done where its result is wanted.
bool is_left_to_owner(const Exchange& exchange, int range) {
  const Signature& s = exchange.plan->signature;
  return s.operation == Operation::reduce && s.kind == CallKind::blocking && range == s.root &&
         range != exchange.arena->rank();
}

/// Addresses of all contributions to a piece; those that are not mapped here are read into scratch.
class Contributions {
 public:
  Contributions(const Exchange& exchange, int count, std::size_t offset, std::size_t bytes, std::byte* scratch)
      : count_(static_cast<std::size_t>(count)) {
    if (count_ > few_.size()) many_.resize(count_);
    const void** to = many_.empty() ? few_.data() : many_.data();
    for (int from = 0; from < count; ++from) {
      const Remote remote(exchange, from, false);
      std::byte* copy = scratch + static_cast<std::size_t>(from) * bytes;
      const std::byte* mapped = remote.mapped(offset);
      if (mapped == nullptr) remote.read(offset, copy, bytes);
      to[from] = mapped == nullptr ? copy : mapped;
    }
  }
  [[nodiscard]] std::span<const void* const> first(std::size_t count) const {
    return {many_.empty() ? few_.data() : many_.data(), count};
  }
  [[nodiscard]] std::span<const void* const> all() const { return first(count_); }

 private:
  std::size_t count_;
  std::array<const void*, 16> few_{};
  std::vector<const void*> many_;
};

}  // namespace

void SingleCopy::describe(const Exchange& exchange) const {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  Descriptor& mine = exchange.descriptor(me);
  mine.input = place_of(exchange.source);
  mine.output = place_of(exchange.output());
  if (!who.is_varying()) return;
  for (int r = 0; r < who.size(); ++r) {
    Pair& pair = exchange.arena->pair(r, me, exchange.number);
    if (who.flows(me, r)) {
      pair.give_offset = who.given(r).offset * exchange.unit();
      pair.give_bytes = who.given(r).count * exchange.unit();
    }
    if (who.flows(r, me)) {
      pair.take_offset = who.taken(r).offset * exchange.unit();
      pair.take_bytes = who.taken(r).count * exchange.unit();
    }
  }
}

std::size_t SingleCopy::scratch_bytes(const Exchange& exchange) {
  const Geometry who = exchange.geometry();
  if (!who.combines()) return 0;
  return combined_piece(who, exchange.unit()) * (static_cast<std::size_t>(who.size()) + 1);
}

void SingleCopy::begin(const Exchange& /*exchange*/, std::byte* scratch) {
  scratch_ = scratch;
  next_flag_ = 0;
  next_range_ = 0;
  next_pair_ = 0;
  own_copied_ = false;
}

bool SingleCopy::step(const Exchange& exchange, std::size_t pieces) {
  // Another thread may free an allocation in which a peer's buffer lies.
  const Allocations::Use use = Allocations::instance().use();
  return exchange.geometry().combines() ? step_combining(exchange, pieces) : step_moving(exchange, pieces);
}

bool SingleCopy::all_published(const Exchange& exchange) {
  for (; next_flag_ < exchange.arena->size(); ++next_flag_)
    if (exchange.published(next_flag_) == 0) return false;
  return true;
}

bool SingleCopy::step_combining(const Exchange& exchange, std::size_t pieces) {
  if (!all_published(exchange)) return false;
  const Geometry who = exchange.geometry();
  const std::size_t piece = combined_piece(who, exchange.unit());
  for (; next_range_ < who.size(); ++next_range_) {
    const int range = (who.rank() + next_range_) % who.size();
    const std::size_t total = ceil_div(range_of(who, exchange.unit(), range).bytes, piece);
    if (total == 1 && is_left_to_owner(exchange, range)) continue;
    std::size_t index = 0;
    while (take_piece(exchange.cell(range).work.taken, exchange.generation, total, index)) {
      combine_piece(exchange, range, index);
      finish_piece(exchange.cell(range).work.finished, exchange.generation);
      exchange.arena->wake();
      if (--pieces == 0) return false;
    }
  }
  for (int range = 0; range < who.size(); ++range) {
    const std::size_t total = ceil_div(range_of(who, exchange.unit(), range).bytes, piece);
    if (!is_finished(exchange.cell(range).work.finished, exchange.generation, total)) return false;
  }
  return true;
}

void SingleCopy::combine_piece(const Exchange& exchange, int range, std::size_t index) {
  const Geometry who = exchange.geometry();
  const Range whole = range_of(who, exchange.unit(), range);
  const std::size_t piece = combined_piece(who, exchange.unit());
  const std::size_t begin = index * piece;
  const std::size_t bytes = std::min(piece, whole.bytes - begin);
  const std::size_t offset = whole.offset + begin;
  const Contributions inputs(exchange, who.size(), offset, bytes, scratch_);
  std::byte* result = scratch_ + static_cast<std::size_t>(who.size()) * piece;

  // From the last rank down: in place, a prefix overwrites a contribution that only higher ranks need.
  const bool is_prefix = who.operation() == Operation::scan || who.operation() == Operation::exscan;
  if (is_prefix) {
    for (int to = who.size() - 1; to >= 0; --to) {
      if (!who.has_result(to)) continue;
      exchange.combine(inputs.first(static_cast<std::size_t>(who.contributions(to))), result, bytes);
      Remote(exchange, to, true).write(offset, result, bytes);
    }
    return;
  }
  if (who.operation() == Operation::allreduce) {
    std::byte* own = exchange.output() + offset;
    exchange.combine(inputs.all(), own, bytes);
    for (int to = 0; to < who.size(); ++to)
      if (to != who.rank()) Remote(exchange, to, true).write(offset, own, bytes);
    return;
  }
  const int to = who.operation() == Operation::reduce ? exchange.plan->signature.root : range;
  const std::size_t at = who.operation() == Operation::reduce ? offset : begin;
  const Remote target(exchange, to, true);
  if (std::byte* mapped = target.mapped(at)) {
    exchange.combine(inputs.all(), mapped, bytes);
  } else {
    exchange.combine(inputs.all(), result, bytes);
    target.write(at, result, bytes);
  }
}

void SingleCopy::check_agreement(const Exchange& exchange, int from, int to) const {
  if (!exchange.geometry().is_varying()) return;
  const std::uint64_t given = exchange.arena->pair(to, from, exchange.number).give_bytes;
  const std::uint64_t taken = exchange.arena->pair(from, to, exchange.number).take_bytes;
  if (given == taken) return;
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: rank {} gives rank {} {} bytes, which takes {}; make their counts equal",
                          schedules::operation_name(exchange.plan->signature.operation), from, to, given, taken));
}

bool SingleCopy::move_piece(const Exchange& exchange, int from, int to) {
  const Geometry who = exchange.geometry();
  const bool pulls = to == who.rank();
  check_agreement(exchange, from, to);
  const std::size_t whole = (pulls ? who.taken(from) : who.given(to)).count * exchange.unit();
  const std::size_t piece = moved_piece(who.operation(), whole);
  Pair& pair = exchange.arena->pair(from, to, exchange.number);
  std::size_t index = 0;
  if (!take_piece(pair.taken, exchange.generation, ceil_div(whole, piece), index)) return false;
  const std::size_t begin = index * piece;
  const std::size_t bytes = std::min(piece, whole - begin);
  const bool tells = who.is_varying();
  const std::size_t unit = exchange.unit();
  const std::size_t give =
      tells ? exchange.arena->pair(to, from, exchange.number).give_offset : who.given_offset(to) * unit;
  const std::size_t take = tells ? pair.take_offset : who.taken_offset(from) * unit;
  if (pulls)
    Remote(exchange, from, false).read(give + begin, exchange.output() + take + begin, bytes);
  else
    Remote(exchange, to, true).write(take + begin, exchange.source + give + begin, bytes);
  finish_piece(pair.finished, exchange.generation);
  exchange.arena->wake();
  return true;
}

bool SingleCopy::step_moving(const Exchange& exchange, std::size_t pieces) {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  const int others = who.size() - 1;
  bool waits = false;
  for (int i = 0; i < 2 * others; ++i) {
    if (i == others && !own_copied_) {
      exchange.copy_own();
      own_copied_ = true;
    }
    const bool pulls = i < others;
    const int peer = pulls ? schedules::wrap(me - 1 - i, who.size()) : (me + 1 + i - others) % who.size();
    const int from = pulls ? peer : me;
    const int to = pulls ? me : peer;
    if (!who.flows(from, to)) continue;
    if (exchange.published(peer) == 0) {
      waits = true;
      continue;
    }
    while (move_piece(exchange, from, to))
      if (--pieces == 0) return false;
  }
  return !waits && is_moved(exchange);
}

bool SingleCopy::is_moved(const Exchange& exchange) const {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  for (int peer = 0; peer < who.size(); ++peer) {
    if (who.flows(peer, me)) {
      const std::size_t whole = who.taken(peer).count * exchange.unit();
      if (!is_finished(exchange.arena->pair(peer, me, exchange.number).finished, exchange.generation,
                       ceil_div(whole, moved_piece(who.operation(), whole))))
        return false;
    }
    if (who.flows(me, peer)) {
      const std::size_t whole = who.given(peer).count * exchange.unit();
      if (!is_finished(exchange.arena->pair(me, peer, exchange.number).finished, exchange.generation,
                       ceil_div(whole, moved_piece(who.operation(), whole))))
        return false;
    }
  }
  return true;
}

}  // namespace tutti::detail::shm
