// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/read_all.hpp"

#include "backends/shm/pieces.hpp"
#include "backends/shm/remote.hpp"

namespace tutti::detail::shm {
namespace {

std::size_t bytes_of_vector(const Exchange& exchange) {
  return exchange.plan->signature.count * exchange.plan->signature.type.size();
}

/// Where the vector of another rank is read to: one of them to the output, since that touches less memory, unless
/// others still read from there.
std::byte* place_of(const Exchange& exchange, std::byte* scratch, int from) {
  const int first = schedules::wrap(exchange.arena->rank() - 1, exchange.arena->size());
  if (from == first && !exchange.is_in_place()) return exchange.output();
  return scratch + static_cast<std::size_t>(from) * bytes_of_vector(exchange);
}

}  // namespace

bool ReadAll::makes(const Exchange& exchange) {
  return is_made_by_each(exchange.plan->signature, exchange.arena->size(), exchange.arena->mapped_copy());
}

void ReadAll::read(const Exchange& exchange, std::byte* scratch, Reached& reached) const {
  // Another thread may free the allocation that holds a peer's buffer.
  const Allocations::Use use = Allocations::instance().use();
  const std::size_t bytes = bytes_of_vector(exchange);
  const int me = exchange.arena->rank();
  const int size = exchange.arena->size();
  for (int i = 1; i < size; ++i) {
    const int from = schedules::wrap(me - i, size);
    const Remote remote(exchange, from, false, {0, bytes}, reached);
    remote.read(0, place_of(exchange, scratch, from), bytes);
  }
}

void ReadAll::combine(const Exchange& exchange, std::byte* scratch) const {
  const int size = exchange.arena->size();
  Operands inputs(static_cast<std::size_t>(size));
  for (int from = 0; from < size; ++from)
    inputs[static_cast<std::size_t>(from)] =
        from == exchange.arena->rank() ? exchange.source : place_of(exchange, scratch, from);
  exchange.combine(inputs, exchange.output(), bytes_of_vector(exchange));
}

bool ReadAll::step(const Exchange& exchange, std::byte* scratch, Reached& reached) {
  const bool waits = exchange.is_in_place();  // it may write only when nobody reads its vector any more
  if (!has_read_) {
    read(exchange, scratch, reached);
    finish_unclaimed(exchange.cell(exchange.arena->rank()).work.finished, exchange.generation);
    exchange.arena->wake();
    has_read_ = true;
    if (!waits) combine(exchange, scratch);
  }
  for (; next_finished_ < exchange.arena->size(); ++next_finished_)
    if (!is_finished(exchange.cell(next_finished_).work.finished, exchange.generation, 1)) return false;
  if (waits) combine(exchange, scratch);
  return true;
}

}  // namespace tutti::detail::shm
