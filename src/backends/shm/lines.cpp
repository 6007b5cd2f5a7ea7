// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/lines.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "backends/shm/line_run.hpp"

namespace tutti::detail::shm {
namespace {

/// Operations in which all blocks have the same size.
constexpr schedules::OperationSet single_line_operations{Operation::barrier,
                                                         Operation::bcast,
                                                         Operation::reduce,
                                                         Operation::allreduce,
                                                         Operation::gather,
                                                         Operation::scatter,
                                                         Operation::scan,
                                                         Operation::exscan,
                                                         Operation::allgather,
                                                         Operation::alltoall,
                                                         Operation::reduce_scatter_block};

}  // namespace

void Lines::begin(const Exchange& exchange) {
  const Signature& s = exchange.plan->signature;
  per_block_ = lines_of(largest_block(exchange));
  produced_ = false;
  from_ = 0;
  line_ = 0;
  // A blocking barrier of more than two ranks goes through rank 0, because fewer lines then change owners. It does not
  // if a rank may be away, or if every turn costs a process switch.
  centered_ = s.operation == Operation::barrier && s.kind == CallKind::blocking && exchange.arena->size() > 2 &&
              !exchange.arena->oversubscribed();
  single_ = per_block_ == 1 && !centered_ && single_line_operations.has(s.operation);
  if (single_) begin_single(exchange);
}

void Lines::begin_single(const Exchange& exchange) {
  const Signature& s = exchange.plan->signature;
  const int me = exchange.arena->rank();
  const int size = exchange.arena->size();
  const bool is_root = me == s.root;
  split_ = schedules::is_split(s.operation);
  gives_ = true;
  from_end_ = size;
  switch (s.operation) {
    case Operation::bcast:
    case Operation::scatter:
      gives_ = is_root;
      from_ = s.root;
      from_end_ = is_root ? 0 : s.root + 1;
      break;
    case Operation::reduce:
    case Operation::gather:
      gives_ = !is_root;
      from_end_ = is_root ? size : 0;
      break;
    case Operation::scan:
      gives_ = me + 1 < size;
      from_end_ = me + 1;
      break;
    case Operation::exscan:
      gives_ = me + 1 < size;
      from_end_ = me;
      break;
    default:
      break;
  }
  from_begin_ = from_;
}

void Lines::give_single(const Exchange& exchange) const {
  const Signature& s = exchange.plan->signature;
  const std::size_t bytes = s.count * s.type.size();
  const int me = exchange.arena->rank();
  Line* lines = exchange.cell(me).lines;
  if (!split_) {
    put_in_lines(lines, exchange.line_flag(), exchange.source, bytes);
  } else {
    for (int to = 0; to < exchange.arena->size(); ++to)
      if (to != me)
        put_in_lines(lines + to, exchange.line_flag(), exchange.source + static_cast<std::size_t>(to) * bytes, bytes);
  }
  exchange.arena->wake();
}

void Lines::copy_own_single(const Exchange& exchange) const {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  const bool is_roots = who.operation() == Operation::bcast || who.operation() == Operation::scatter ||
                        who.operation() == Operation::gather;
  if (is_roots && (me != who.root() || who.operation() == Operation::bcast)) return;
  const std::byte* own = exchange.source + who.given_offset(me) * exchange.unit();
  std::byte* to = exchange.output() + who.taken_offset(me) * exchange.unit();
  const Signature& s = exchange.plan->signature;
  if (own != to) copy_in_line(to, own, s.count * s.type.size());
}

void Lines::combine_single(const Exchange& exchange) const {
  const Signature& s = exchange.plan->signature;
  const std::size_t bytes = s.count * s.type.size();
  const int me = exchange.arena->rank();
  std::array<const void*, most_combined_bytes / cache_line> inputs;
  for (int from = 0; from < from_end_; ++from)
    inputs[static_cast<std::size_t>(from)] = from == me
                                                 ? exchange.source + (split_ ? static_cast<std::size_t>(me) * bytes : 0)
                                                 : static_cast<const std::byte*>(single_of(exchange, from)->payload);
  exchange.combine({inputs.data(), static_cast<std::size_t>(from_end_)}, exchange.output(), bytes);
}

void Lines::take_single(const Exchange& exchange) const {
  const Signature& s = exchange.plan->signature;
  const std::size_t bytes = s.count * s.type.size();
  if (bytes == 0) return;
  if (schedules::combines(s.operation)) {
    if (from_end_ > 0) combine_single(exchange);
    return;
  }
  copy_own_single(exchange);
  const Geometry who = exchange.geometry();
  for (int from = from_begin_; from < from_end_; ++from)
    if (from != who.rank())
      copy_in_line(exchange.output() + who.taken_offset(from) * exchange.unit(), single_of(exchange, from)->payload,
                   bytes);
}

bool Lines::step_single(const Exchange& exchange) {
  if (!produced_) {
    produced_ = true;
    if (gives_) give_single(exchange);
  }
  const int me = exchange.arena->rank();
  const std::uint64_t flag = exchange.line_flag();
  const int looks = exchange.arena->oversubscribed() ? 1 : looks_at_flag;
  for (; from_ < from_end_; ++from_, line_ = 0)
    if (from_ != me && !have_arrived(single_of(exchange, from_), flag, 1, line_, looks)) return false;
  take_single(exchange);
  return true;
}

void Lines::produce(const Exchange& exchange) {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  Line* lines = exchange.cell(me).lines;
  produced_ = true;
  for (int to = 0; to < who.size(); ++to) {
    if (!flows(who, me, to)) continue;
    const Block block = who.given(to);
    Line* first = who.is_split() ? lines + static_cast<std::size_t>(to) * per_block_ : lines;
    put_in_lines(first, exchange.line_flag(), exchange.source + block.offset * exchange.unit(),
                 block.count * exchange.unit());
    if (!who.is_split()) break;  // all takers take the same block
  }
  exchange.arena->wake();
}

bool Lines::has_arrived(const Exchange& exchange) {
  const int looks = exchange.arena->oversubscribed() ? 1 : looks_at_flag;
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  for (; from_ < who.size(); ++from_, line_ = 0) {
    if (!flows(who, from_, me)) continue;
    const std::size_t bytes = (who.combines() ? who.part(me) : who.taken(from_)).count * exchange.unit();
    const Line* lines = exchange.cell(from_).lines;
    if (who.is_split()) lines += static_cast<std::size_t>(me) * per_block_;
    if (!have_arrived(lines, exchange.line_flag(), lines_of(bytes), line_, looks)) return false;
  }
  return true;
}

void Lines::consume(const Exchange& exchange) {
  const Geometry who = exchange.geometry();
  if (who.combines()) return combine(exchange);
  const int me = who.rank();
  exchange.copy_own();
  for (int from = 0; from < who.size(); ++from) {
    if (!who.flows(from, me)) continue;
    const Block block = who.taken(from);
    const Line* lines = exchange.cell(from).lines;
    if (who.is_split()) lines += static_cast<std::size_t>(me) * per_block_;
    get_from_lines(lines, exchange.output() + block.offset * exchange.unit(), block.count * exchange.unit());
  }
}

void Lines::combine(const Exchange& exchange) {
  const Geometry who = exchange.geometry();
  const int me = who.rank();
  const Block part = who.part(me);
  const std::size_t bytes = part.count * exchange.unit();
  if (bytes == 0 || !who.has_result(me)) return;
  alignas(cache_line) std::array<std::byte, most_combined_bytes> copies;
  std::array<const void*, most_combined_bytes / cache_line> inputs;
  std::byte* copy = copies.data();
  const auto count = static_cast<std::size_t>(who.contributions(me));
  for (std::size_t i = 0; i < count; ++i) {
    const int from = static_cast<int>(i);
    const Line* lines = exchange.cell(from).lines;
    if (who.is_split()) lines += static_cast<std::size_t>(me) * per_block_;
    if (from == me) {
      inputs[i] = exchange.source + part.offset * exchange.unit();
    } else if (bytes <= line_bytes) {
      inputs[i] = lines->payload;
    } else {
      get_from_lines(lines, copy, bytes);
      inputs[i] = copy;
      copy += combined_room(bytes);
    }
  }
  exchange.combine({inputs.data(), count}, exchange.output(), bytes);
}

bool Lines::step(const Exchange& exchange) {
  if (single_) return step_single(exchange);
  // In a barrier through rank 0, rank 0 signals once all ranks have arrived.
  const bool waits_first = centered_ && exchange.arena->rank() == 0;
  if (!produced_ && !waits_first) produce(exchange);
  if (!has_arrived(exchange)) return false;
  if (!produced_) produce(exchange);
  if (!centered_) consume(exchange);
  return true;
}

}  // namespace tutti::detail::shm
