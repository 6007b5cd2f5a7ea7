// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/single_copy.hpp"

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "backends/shm/agreement.hpp"
#include "backends/shm/line_run.hpp"
#include "backends/shm/pieces.hpp"
#include "backends/shm/remote.hpp"

namespace tutti::detail::shm {
namespace {

Location location_of(const void* address) {
  Location location{reinterpret_cast<std::uint64_t>(address), 0, 0};
  Allocations::instance().find(address, location.allocation, location.offset);
  return location;
}

std::size_t pieces_of(const Exchange& exchange, int range) {
  const Shape who = exchange.shape();
  return ceil_div(range_of(who, exchange.unit(), range).bytes, combined_piece(who, exchange.unit()));
}

/// A blocking call asks some times, because to come back takes longer than to look again.
template <typename Question>
bool look_for(const Exchange& exchange, const Question& is_there) {
  const bool waits = exchange.plan->signature.kind == CallKind::blocking && !exchange.arena->oversubscribed();
  int left = waits ? looks_at_flag : 1;
  while (!is_there())
    if (--left <= 0) return false;
  return true;
}

/// In a blocking call no rank is away, so a block in one piece is best left to the rank that takes it: two copies of
/// the kernel at a time hinder each other, and nobody has to claim the piece.
bool is_left_to_taker(const Exchange& exchange, std::size_t total) {
  return total == 1 && exchange.plan->signature.kind == CallKind::blocking;
}

/// While the root copies the block that it gives itself, others move pieces of theirs, if these have several. In other
/// calls they wait for this rank.
bool copies_own_first(const Exchange& exchange) {
  const Signature& s = exchange.plan->signature;
  if (!tutti::has_root(s.operation) || s.operation == Operation::bcast) return false;
  if (exchange.arena->rank() != s.root) return false;  // it may not know the blocks
  const std::size_t own = exchange.shape().given(s.root).count * exchange.unit();
  return own > moved_piece(s.operation, own);
}

/// The range of every rank's source that a combination reads.
ByteRange source_of(const Exchange& exchange) {
  const Shape who = exchange.shape();
  const Block last = who.part(who.size() - 1);
  return {0, (last.offset + last.count) * exchange.unit()};
}

/// The range of a rank's output that takes the result of a combination.
ByteRange result_of(const Exchange& exchange, int to) { return {0, exchange.shape().part(to).count * exchange.unit()}; }

/// The result of a range goes to that rank alone.
bool is_for_one(const Exchange& exchange, int range, int rank) {
  const Signature& s = exchange.plan->signature;
  return tutti::is_split(s.operation) ? range == rank : s.operation == Operation::reduce && s.root == rank;
}

/// In a blocking call no rank is away, so a single piece is best left to the one rank that needs its result. Where
/// ranks share cores, others may do it sooner.
bool is_left_to_owner(const Exchange& exchange, int range, std::size_t total) {
  const Signature& s = exchange.plan->signature;
  if (total != 1 || s.kind != CallKind::blocking) return false;
  if (s.operation == Operation::reduce) return range == s.root;
  return tutti::is_split(s.operation) && !exchange.arena->oversubscribed();
}

}  // namespace

/// Finds the addresses of all contributions to a piece; reads contributions that are not mapped here into
/// scratch memory, one of them into `spare`.
class SingleCopy::Contributions {
 public:
  /// spare: room for one of the copies, or null.
  Contributions(const Exchange& exchange, int count, std::size_t offset, std::size_t bytes, std::byte* scratch,
                std::byte* spare, Reached& reached)
      : all_(static_cast<std::size_t>(count)) {
    const ByteRange whole = source_of(exchange);
    for (int from = 0; from < count; ++from) {
      const Remote remote(exchange, from, false, whole, reached);
      const std::byte* mapped = remote.mapped(offset);
      std::byte* copy = scratch + static_cast<std::size_t>(from) * bytes;
      if (mapped == nullptr && spare != nullptr) copy = std::exchange(spare, nullptr);
      if (mapped == nullptr) remote.read(offset, copy, bytes);
      are_here_ = are_here_ && (mapped == nullptr || from == exchange.arena->rank());
      all_[static_cast<std::size_t>(from)] = mapped == nullptr ? copy : mapped;
    }
  }
  [[nodiscard]] std::span<const void* const> first(std::size_t count) const { return {all_.begin(), count}; }
  [[nodiscard]] std::span<const void* const> all() const { return first(all_.size()); }
  /// Returns true if other ranks' memory is needed no more.
  [[nodiscard]] bool are_here() const { return are_here_; }

 private:
  Operands all_;
  bool are_here_ = true;
};

void SingleCopy::describe(const Exchange& exchange) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  if (!who.combines()) exchange.arena->prepare_pairs(exchange.number);
  Descriptor& mine = exchange.descriptor(me);
  mine.input = location_of(exchange.source);
  mine.output = location_of(exchange.output());
  exchange.mark(0);
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
  const Shape who = exchange.shape();
  if (!who.combines()) return 0;
  return combined_piece(who, exchange.unit()) * (static_cast<std::size_t>(who.size()) + 1);
}

void SingleCopy::reset(std::byte* scratch) {
  scratch_ = scratch;
  next_flag_ = 0;
  next_range_ = 0;
  next_finished_ = 0;
  steps_ = 0;
  read_all_.begin();
  own_copied_ = false;
  reached_.clear();
}

void SingleCopy::begin(const Exchange& exchange, std::byte* scratch) {
  describe(exchange);
  exchange.publish(1);
  reset(scratch);
}

bool SingleCopy::waits_for_owner(const Exchange& exchange, std::size_t total) const {
  constexpr std::uint64_t patience = 64;
  return total == 1 && steps_ < patience && !exchange.arena->is_about_to_sleep();
}

bool SingleCopy::step(const Exchange& exchange) {
  const bool is_blocking = exchange.plan->signature.kind == CallKind::blocking;
  const std::size_t pieces = is_blocking ? std::numeric_limits<std::size_t>::max() : 1;
  ++steps_;
  const bool is_done = exchange.shape().combines() ? step_combining(exchange, pieces) : step_moving(exchange, pieces);
  if (is_done) reached_.clear();
  return is_done;
}

bool SingleCopy::all_published(const Exchange& exchange) {
  for (; next_flag_ < exchange.arena->size(); ++next_flag_)
    if (!look_for(exchange, [&] { return exchange.published(next_flag_) != 0; }) || !exchange.agrees(next_flag_))
      return false;
  return true;
}

bool SingleCopy::step_combining(const Exchange& exchange, std::size_t pieces) {
  if (!all_published(exchange)) {
    steps_ = 0;
    return false;
  }
  if (ReadAll::makes(exchange)) return read_all_.step(exchange, scratch_, reached_);
  return take_combinations(exchange, pieces) && are_combined(exchange);
}

/// Returns true once all pieces are taken, by whatever rank.
bool SingleCopy::take_combinations(const Exchange& exchange, std::size_t pieces) {
  const int size = exchange.arena->size();
  for (; next_range_ < size; ++next_range_) {
    const int range = (exchange.arena->rank() + next_range_) % size;
    const std::size_t total = pieces_of(exchange, range);
    if (is_left_to_owner(exchange, range, total)) {
      if (range == exchange.arena->rank()) combine_piece(exchange, range, 0, finish_unclaimed);
      continue;
    }
    auto& taken = exchange.cell(range).work.taken;
    if (next_range_ > 0 && waits_for_owner(exchange, total) && !is_finished(taken, exchange.generation, total))
      return false;
    std::size_t index = 0;
    while (take_piece(taken, exchange.generation, total, index)) {
      combine_piece(exchange, range, index, finish_piece);
      if (--pieces == 0) return false;
    }
  }
  return true;
}

bool SingleCopy::are_combined(const Exchange& exchange) {
  for (; next_finished_ < exchange.arena->size(); ++next_finished_) {
    const std::size_t total = pieces_of(exchange, next_finished_);
    const auto& finished = exchange.cell(next_finished_).work.finished;
    if (!look_for(exchange, [&] { return is_finished(finished, exchange.generation, total); })) return false;
  }
  return true;
}

SingleCopy::Slice SingleCopy::slice_of(const Exchange& exchange, int range, std::size_t index) {
  const Shape who = exchange.shape();
  const ByteRange whole = range_of(who, exchange.unit(), range);
  const std::size_t piece = combined_piece(who, exchange.unit());
  const std::size_t begin = index * piece;
  return {begin, whole.offset + begin, std::min(piece, whole.bytes - begin)};
}

void SingleCopy::combine_piece(const Exchange& exchange, int range, std::size_t index, Finish mark) {
  // Another thread may free the allocation that holds a peer's buffer.
  const Allocations::Use use = Allocations::instance().use();
  ++moves_;
  const Slice slice = slice_of(exchange, range, index);
  std::byte* spare = spare_output(exchange, range, slice);
  const Contributions inputs(exchange, exchange.arena->size(), slice.offset, slice.bytes, scratch_, spare, reached_);
  const auto finish = [&] {
    mark(exchange.cell(range).work.finished, exchange.generation);
    exchange.arena->wake();
  };
  const bool is_early = inputs.are_here() && is_for_one(exchange, range, exchange.arena->rank());
  if (is_early) finish();  // nobody else waits for more than the end of reading
  combine_slice(exchange, range, slice, inputs);
  if (!is_early) finish();
}

/// A rank that makes a piece of its own output may read one vector there: that touches less memory than scratch.
std::byte* SingleCopy::spare_output(const Exchange& exchange, int range, const Slice& slice) {
  const bool is_for_all = exchange.plan->signature.operation == Operation::allreduce;
  if (!is_for_all && !is_for_one(exchange, range, exchange.arena->rank())) return nullptr;
  return exchange.is_in_place() ? nullptr : exchange.output() + place_of(exchange, slice);
}

/// The byte of an output that a piece's result begins at.
std::size_t SingleCopy::place_of(const Exchange& exchange, const Slice& slice) {
  return tutti::is_split(exchange.plan->signature.operation) ? slice.begin : slice.offset;
}

void SingleCopy::combine_slice(const Exchange& exchange, int range, const Slice& slice, const Contributions& inputs) {
  const Shape who = exchange.shape();
  switch (who.operation()) {
    case Operation::scan:
    case Operation::exscan:
      return combine_prefixes(exchange, inputs, slice);
    case Operation::allreduce:
      return combine_for_all(exchange, inputs, slice);
    case Operation::reduce:
      return combine_for_one(exchange, inputs, slice, who.root());
    default:
      return combine_for_one(exchange, inputs, slice, range);
  }
}

void SingleCopy::combine_prefixes(const Exchange& exchange, const Contributions& inputs, const Slice& slice) {
  const Shape who = exchange.shape();
  std::byte* result = result_room(who, exchange.unit());
  // Starts at the last rank, because in place a prefix overwrites a contribution that only higher ranks need.
  for (int to = who.size() - 1; to >= 0; --to) {
    if (!who.has_result(to)) continue;
    const auto first = inputs.first(static_cast<std::size_t>(who.contributions(to)));
    const Remote target(exchange, to, true, result_of(exchange, to), reached_);
    std::byte* mapped = target.mapped(slice.offset);
    exchange.combine(first, mapped == nullptr ? result : mapped, slice.bytes);
    if (mapped == nullptr) target.write(slice.offset, result, slice.bytes);
  }
}

void SingleCopy::combine_for_all(const Exchange& exchange, const Contributions& inputs, const Slice& slice) {
  std::byte* own = exchange.output() + place_of(exchange, slice);
  exchange.combine(inputs.all(), own, slice.bytes);
  for (int to = 0; to < exchange.arena->size(); ++to)
    if (to != exchange.arena->rank())
      Remote(exchange, to, true, result_of(exchange, to), reached_).write(slice.offset, own, slice.bytes);
}

void SingleCopy::combine_for_one(const Exchange& exchange, const Contributions& inputs, const Slice& slice, int to) {
  const std::size_t at = place_of(exchange, slice);
  const Remote target(exchange, to, true, result_of(exchange, to), reached_);
  if (std::byte* mapped = target.mapped(at)) return exchange.combine(inputs.all(), mapped, slice.bytes);
  std::byte* result = result_room(exchange.shape(), exchange.unit());
  exchange.combine(inputs.all(), result, slice.bytes);
  target.write(at, result, slice.bytes);
}

std::byte* SingleCopy::result_room(const Shape& who, std::size_t unit) const {
  return scratch_ + static_cast<std::size_t>(who.size()) * combined_piece(who, unit);
}

bool SingleCopy::move_piece(const Exchange& exchange, int from, int to, std::size_t before) {
  const Shape who = exchange.shape();
  const bool pulls = to == who.rank();
  if (who.is_varying()) check_sizes(exchange, from, to);
  const std::size_t whole = (pulls ? who.taken(from) : who.given(to)).count * exchange.unit();
  const std::size_t piece = moved_piece(who.operation(), whole);
  Pair& pair = exchange.arena->pair(from, to, exchange.number);
  const std::size_t total = ceil_div(whole, piece);
  std::size_t index = 0;
  const bool is_unclaimed = is_left_to_taker(exchange, total);
  if (is_unclaimed) {
    if (!pulls || is_finished(pair.finished, exchange.generation, 1)) return false;
  } else if ((!pulls && waits_for_owner(exchange, total)) ||
             !take_piece(pair.taken, exchange.generation, total, index)) {
    return false;
  }
  // The taker begins in front and the giver at the end, so that each finds its part in its caches the next time. In
  // other calls this rank may go on after it was elsewhere.
  if (exchange.plan->signature.kind == CallKind::blocking) index = pulls ? before : total - 1 - before;
  ++moves_;
  const Allocations::Use use = Allocations::instance().use();
  const std::size_t begin = index * piece;
  const std::size_t bytes = std::min(piece, whole - begin);
  const bool tells = who.is_varying();
  const std::size_t unit = exchange.unit();
  const std::size_t give =
      tells ? exchange.arena->pair(to, from, exchange.number).give_offset : who.given_offset(to) * unit;
  const std::size_t take = tells ? pair.take_offset : who.taken_offset(from) * unit;
  if (pulls)
    Remote(exchange, from, false, {give, whole}, reached_).read(give + begin, exchange.output() + take + begin, bytes);
  else
    Remote(exchange, to, true, {take, whole}, reached_).write(take + begin, exchange.source + give + begin, bytes);
  (is_unclaimed ? finish_unclaimed : finish_piece)(pair.finished, exchange.generation);
  exchange.arena->wake();
  return true;
}

bool SingleCopy::step_moving(const Exchange& exchange, std::size_t pieces) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const int others = who.size() - 1;
  bool waits = false;
  const int own_turn = copies_own_first(exchange) ? 0 : others;
  for (int i = 0; i < 2 * others; ++i) {
    if (i == own_turn && !own_copied_) {
      exchange.copy_own();
      own_copied_ = true;
    }
    const bool pulls = i < others;
    const int peer = pulls ? schedules::wrap(me - 1 - i, who.size()) : (me + 1 + i - others) % who.size();
    const int from = pulls ? peer : me;
    const int to = pulls ? me : peer;
    if (!exchange.flows(from, to)) continue;
    if (exchange.published(peer) < exchange.described || !exchange.agrees(peer)) {
      waits = true;
      continue;
    }
    for (std::size_t before = 0; move_piece(exchange, from, to, before); ++before)
      if (--pieces == 0) return false;
  }
  if (waits) steps_ = 0;
  return !waits && is_moved(exchange);
}

bool SingleCopy::is_moved(const Exchange& exchange) const {
  const Shape who = exchange.shape();
  const int me = who.rank();
  for (int peer = 0; peer < who.size(); ++peer) {
    if (exchange.flows(peer, me)) {
      const std::size_t whole = who.taken(peer).count * exchange.unit();
      if (!is_finished(exchange.arena->pair(peer, me, exchange.number).finished, exchange.generation,
                       ceil_div(whole, moved_piece(who.operation(), whole))))
        return false;
    }
    if (exchange.flows(me, peer)) {
      const std::size_t whole = who.given(peer).count * exchange.unit();
      if (!is_finished(exchange.arena->pair(me, peer, exchange.number).finished, exchange.generation,
                       ceil_div(whole, moved_piece(who.operation(), whole))))
        return false;
    }
  }
  return true;
}

}  // namespace tutti::detail::shm
