// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/automatic.hpp"

#include <algorithm>

#include "backends/shm/agreement.hpp"

namespace tutti::detail::shm {
namespace {

bool has_any(const Exchange& exchange) {
  const int me = exchange.arena->rank();
  for (int r = 0; r < exchange.arena->size(); ++r)
    if (exchange.flows(me, r) || exchange.flows(r, me)) return true;
  return false;
}

/// Throws if a rank that this one waits to copy from has published, and gives none of its blocks that way.
void check_copied(const Exchange& copied) {
  const Shape who = copied.shape();
  const int me = who.rank();
  for (int from = 0; from < who.size(); ++from) {
    if (!copied.flows(from, me) || copied.published(from) != 1 || !copied.agrees(from)) continue;
    throw_sizes_differ(copied, from, me, Slots::told_bytes(copied, from), who.taken(from).count * copied.unit());
  }
}

}  // namespace

Exchange Automatic::long_ones(const Exchange& exchange) const {
  Exchange part = exchange;
  part.least = lines_.limit();
  return part;
}

Exchange Automatic::by_slots(const Exchange& exchange) const {
  Exchange part = long_ones(exchange);
  if (exchange.arena->direct_copy()) part.most = Slots::most(exchange);
  return part;
}

Exchange Automatic::by_copies(const Exchange& exchange) const {
  Exchange part = exchange;
  part.least = std::max(lines_.limit(), Slots::most(exchange) + 1);
  part.described = 2;
  return part;
}

void Automatic::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  lines_.begin(exchange);
  own_copied_ = false;
  const bool is_direct = exchange.arena->direct_copy();
  has_long_ = has_any(long_ones(exchange));
  has_copies_ = is_direct && has_long_ && has_any(by_copies(exchange));
  is_cut_ = is_direct;
  // Where slots are cut, every rank waits to hear of the longest block of all.
  if (has_long_ || !is_direct) publish_long(exchange);
}

void Automatic::publish_long(const Exchange& exchange) {
  if (has_copies_ || !is_cut_) SingleCopy::describe(exchange);
  slots_.announce(by_slots(exchange), has_copies_);
  if (has_copies_) single_copy_.reset(nullptr);
}

bool Automatic::cut_slots(const Exchange& exchange) {
  std::size_t largest = 0;
  for (int r = 0; r < exchange.arena->size(); ++r) {
    if (exchange.published(r) == 0 || !exchange.agrees(r)) return false;
    largest = std::max(largest, exchange.largest_of(r));
  }
  slots_.resume(by_slots(exchange), largest);
  return true;
}

bool Automatic::step_long(const Exchange& exchange) {
  if (!is_cut_) is_cut_ = cut_slots(exchange);
  if (!is_cut_) return false;
  const bool are_copied = !has_copies_ || single_copy_.step(by_copies(exchange));
  return slots_.step(by_slots(exchange)) && are_copied;
}

bool Automatic::step(const Exchange& exchange) {
  const bool are_taken = lines_.take(exchange);
  if (has_long_) {
    if (step_long(exchange)) return are_taken;
    lines_.check_others(exchange);
    if (has_copies_) check_copied(by_copies(exchange));
    return false;
  }
  if (!own_copied_) exchange.copy_own();
  own_copied_ = true;
  return are_taken;
}

void Automatic::finish(const Exchange& exchange) {
  if (has_long_) slots_.finish(by_slots(exchange));
}

}  // namespace tutti::detail::shm
