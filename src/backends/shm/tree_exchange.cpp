// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/tree_exchange.hpp"

#include <array>

#include "backends/shm/line_run.hpp"
#include "kernels/copy.hpp"

namespace tutti::detail::shm {

void TreeExchange::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  const Signature& s = exchange.plan->signature;
  levels_ = &exchange.arena->tree_partners();
  bytes_ = s.operation == Operation::barrier ? 0 : s.count * s.type.size();
  level_ = come_ = line_ = 0;
  give(exchange, exchange.source);
}

bool TreeExchange::step(const Exchange& exchange) {
  while (have_come(exchange)) {
    combine(exchange);
    if (is_last()) return true;
    ++level_;
    come_ = 0;
    give(exchange, exchange.output());
  }
  return false;
}

void TreeExchange::finish(const Exchange& exchange) {
  if (exchange.is_ordered()) exchange.arena->note_met(exchange.generation - 1);
}

Line* TreeExchange::lines_of_rank(const Exchange& exchange, int rank) const {
  return exchange.cell(rank).lines + level_ * lines_of(bytes_);
}

void TreeExchange::give(const Exchange& exchange, const std::byte* data) const {
  put_in_lines(lines_of_rank(exchange, exchange.arena->rank()), exchange.line_flag(), data, bytes_);
  exchange.arena->wake();
}

/// A rank begins with the unit behind its own, so that not all read the same line at the same time.
bool TreeExchange::have_come(const Exchange& exchange) {
  const Partners& partners = this->partners();
  for (; come_ + 1 < partners.ranks.size(); ++come_, line_ = 0) {
    const int from = partners.ranks[(partners.own + 1 + come_) % partners.ranks.size()];
    if (!have_arrived(lines_of_rank(exchange, from), exchange.line_flag(), lines_of(bytes_), line_)) return false;
  }
  return true;
}

/// In the order of the units, so that all ranks get the same bits.
void TreeExchange::combine(const Exchange& exchange) const {
  if (bytes_ == 0) return;
  alignas(cache_line) std::array<std::byte, (most_fanout - 1) * most_combined_block> copies;
  std::array<const void*, most_fanout> inputs;
  std::byte* copy = copies.data();
  const Partners& partners = this->partners();
  const std::size_t count = partners.ranks.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Line* lines = lines_of_rank(exchange, partners.ranks[i]);
    inputs[i] = i == partners.own ? (level_ == 0 ? exchange.source : exchange.output()) : lines->payload;
    if (i == partners.own || bytes_ <= line_bytes) continue;
    get_from_lines(lines, copy, bytes_);
    inputs[i] = copy;
    copy += combined_room(bytes_);
  }
  if (is_last())
    exchange.combine({inputs.data(), count}, exchange.output(), bytes_);
  else if (count > 1)
    exchange.combine_part({inputs.data(), count}, exchange.output(), bytes_);
  else if (inputs[0] != exchange.output())
    kernels::copy(exchange.output(), inputs[0], bytes_);
}

}  // namespace tutti::detail::shm
