// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/line_blocks.hpp"

#include <algorithm>

#include "backends/shm/agreement.hpp"
#include "backends/shm/slots.hpp"

namespace tutti::detail::shm {
namespace {

constexpr std::size_t in_first = line_bytes - size_head;

std::byte* block_in(Line* lines) { return lines->payload + size_head; }
const std::byte* block_in(const Line* lines) { return lines->payload + size_head; }

void put(Line* lines, std::uint64_t flag, const std::byte* from, std::size_t bytes) {
  const std::size_t first = std::min(bytes, in_first);
  put_size(block_in(lines), bytes);
  copy_in_line(block_in(lines), from, first);
  lines->flag.store(flag, std::memory_order_release);
  if (bytes > first) put_in_lines(lines + 1, flag, from + first, bytes - first);
}

bool has_come(const Exchange& exchange, const Line* line) {
  return line->flag.load(std::memory_order_acquire) == exchange.line_flag();
}

}  // namespace

Line* LineBlocks::lines_of_block(const Exchange& exchange, int giver, int taker) const {
  Line* lines = exchange.cell(giver).lines + 1;  // behind that of the giver's flag
  return exchange.shape().is_split() ? lines + static_cast<std::size_t>(taker) * lines_ : lines;
}

void LineBlocks::begin(const Exchange& exchange) {
  const Shape who = exchange.shape();
  constexpr std::size_t all = cell_lines - 1;
  lines_ = std::min(cell_lines / 2, who.is_split() ? all / static_cast<std::size_t>(who.size()) : all);
  from_ = 0;
  line_ = 0;
  give(exchange);
}

void LineBlocks::give(const Exchange& exchange) const {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const std::size_t most = limit();
  bool gives = false;
  for (int to = 0; to < who.size(); ++to) {
    if (!who.flows(me, to)) continue;
    const Block block = who.given(to);
    const std::size_t bytes = block.count * exchange.unit();
    if (bytes >= most) continue;
    put(lines_of_block(exchange, me, to), exchange.line_flag(), exchange.source + block.offset * exchange.unit(),
        bytes);
    gives = true;
    if (!who.is_split()) break;  // all takers take the same block
  }
  if (gives) exchange.arena->wake();
}

bool LineBlocks::take(const Exchange& exchange) {
  const Shape who = exchange.shape();
  const std::size_t most = limit();
  for (; from_ < who.size(); ++from_, line_ = 0) {
    if (!who.flows(from_, who.rank())) continue;
    const std::size_t bytes = who.taken(from_).count * exchange.unit();
    if (bytes < most && !take_from(exchange, from_, bytes)) return false;
  }
  return true;
}

bool LineBlocks::take_from(const Exchange& exchange, int from, std::size_t bytes) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const Line* lines = lines_of_block(exchange, from, me);
  const std::uint64_t flag = exchange.line_flag();
  const int looks = exchange.arena->oversubscribed() ? 1 : looks_at_flag;
  if (line_ == 0 && !have_arrived(lines, flag, 1, line_, looks)) {
    // A giver writes its short blocks before it publishes longer ones.
    if (exchange.published(from) != 0 && exchange.agrees(from) && !has_come(exchange, lines))
      throw_sizes_differ(exchange, from, me, Slots::told_bytes(exchange, from), bytes);
    return false;
  }
  if (size_before(block_in(lines)) != bytes)
    throw_sizes_differ(exchange, from, me, size_before(block_in(lines)), bytes);
  if (!have_arrived(lines, flag, lines_of(bytes + size_head), line_, looks)) return false;
  std::byte* to = exchange.output() + who.taken(from).offset * exchange.unit();
  const std::size_t first = std::min(bytes, in_first);
  copy_in_line(to, block_in(lines), first);
  if (bytes > first) get_from_lines(lines + 1, to + first, bytes - first);
  return true;
}

void LineBlocks::check_others(const Exchange& exchange) const {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const std::size_t most = limit();
  if (most == 0) return;
  for (int from = 0; from < who.size(); ++from) {
    if (!who.flows(from, me)) continue;
    const std::size_t bytes = who.taken(from).count * exchange.unit();
    const Line* lines = lines_of_block(exchange, from, me);
    if (bytes >= most && has_come(exchange, lines))
      throw_sizes_differ(exchange, from, me, size_before(block_in(lines)), bytes);
  }
}

}  // namespace tutti::detail::shm
