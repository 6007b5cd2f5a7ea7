// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/line_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "backends/shm/agreement.hpp"
#include "backends/shm/slots.hpp"

namespace tutti::detail::shm {
namespace {

constexpr std::size_t head = sizeof(std::uint64_t);  ///< the size of a block, in front of it
constexpr std::size_t in_first = line_bytes - head;

/// The lines for one taker's block; 0: there are too many ranks.
std::size_t lines_for(const Shape& who) {
  constexpr std::size_t all = cell_lines - 1;
  return std::min(cell_lines / 2, who.is_split() ? all / static_cast<std::size_t>(who.size()) : all);
}

Line* lines_of_block(const Exchange& exchange, int giver, int taker) {
  const Shape who = exchange.shape();
  Line* lines = exchange.cell(giver).lines + 1;
  return who.is_split() ? lines + static_cast<std::size_t>(taker) * lines_for(who) : lines;
}

void put(Line* lines, std::uint64_t flag, const std::byte* from, std::size_t bytes) {
  const std::uint64_t size = bytes;
  const std::size_t first = std::min(bytes, in_first);
  std::memcpy(lines->payload, &size, head);
  copy_in_line(lines->payload + head, from, first);
  lines->flag.store(flag, std::memory_order_release);
  if (bytes > first) put_in_lines(lines + 1, flag, from + first, bytes - first);
}

std::size_t size_in(const Line* lines) {
  std::uint64_t size = 0;
  std::memcpy(&size, lines->payload, head);
  return size;
}

bool has_come(const Exchange& exchange, const Line* line) {
  return line->flag.load(std::memory_order_acquire) == exchange.line_flag();
}

}  // namespace

std::size_t LineBlocks::limit(const Exchange& exchange) {
  const std::size_t lines = lines_for(exchange.shape());
  return lines == 0 ? 0 : lines * line_bytes - head + 1;
}

void LineBlocks::give(const Exchange& exchange) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const std::size_t most = limit(exchange);
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
  const std::size_t most = limit(exchange);
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
  if (size_in(lines) != bytes) throw_sizes_differ(exchange, from, me, size_in(lines), bytes);
  if (!have_arrived(lines, flag, lines_of(bytes + head), line_, looks)) return false;
  std::byte* to = exchange.output() + who.taken(from).offset * exchange.unit();
  const std::size_t first = std::min(bytes, in_first);
  copy_in_line(to, lines->payload + head, first);
  if (bytes > first) get_from_lines(lines + 1, to + first, bytes - first);
  return true;
}

void LineBlocks::check_others(const Exchange& exchange) {
  const Shape who = exchange.shape();
  const int me = who.rank();
  const std::size_t most = limit(exchange);
  if (most == 0) return;
  for (int from = 0; from < who.size(); ++from) {
    if (!who.flows(from, me)) continue;
    const std::size_t bytes = who.taken(from).count * exchange.unit();
    const Line* lines = lines_of_block(exchange, from, me);
    if (bytes >= most && has_come(exchange, lines)) throw_sizes_differ(exchange, from, me, size_in(lines), bytes);
  }
}

}  // namespace tutti::detail::shm
