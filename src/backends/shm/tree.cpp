// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/tree.hpp"

#include <array>

#include "backends/shm/line_run.hpp"

namespace tutti::detail::shm {
namespace {

bool goes_up(Operation operation) { return operation != Operation::bcast; }
bool goes_down(Operation operation) { return operation != Operation::reduce; }

}  // namespace

void Tree::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  const Signature& s = exchange.plan->signature;
  const std::size_t lines = lines_of(s.count * s.type.size());
  const int root = tutti::has_root(s.operation) ? s.root : 0;
  place_ = &exchange.arena->tree_place(root);
  bytes_ = s.operation == Operation::barrier ? 0 : s.count * s.type.size();
  // A copy for each level has fewer readers, which wait for one another.
  per_level_ = lines * static_cast<std::size_t>(exchange.arena->tree_levels()) <= cell_lines - lines_up ? lines : 0;
  sweep_ = goes_up(s.operation) ? Sweep::up : Sweep::down;
  child_ = 0;
  line_ = 0;
  if (exchange.is_ordered()) exchange.arena->note_near(exchange.generation - 1, root);
}

bool Tree::step(const Exchange& exchange) {
  if (sweep_ == Sweep::up) {
    if (!have_children_arrived(exchange)) return false;
    pass_up(exchange);
    sweep_ = goes_down(exchange.plan->signature.operation) ? Sweep::down : Sweep::done;
  }
  if (sweep_ == Sweep::down) {
    if (place_->parent >= 0 && !has_result_arrived(exchange)) return false;
    pass_down(exchange);
    sweep_ = Sweep::done;
  }
  return true;
}

bool Tree::have_children_arrived(const Exchange& exchange) {
  for (; child_ < place_->children.size(); ++child_, line_ = 0) {
    const Line* lines = exchange.cell(place_->children[child_].rank).lines;
    if (!have_arrived(lines, exchange.line_flag(), lines_of(bytes_), line_)) return false;
  }
  return true;
}

void Tree::pass_up(const Exchange& exchange) {
  if (place_->parent < 0) return combine(exchange, exchange.output());
  alignas(cache_line) std::array<std::byte, most_combined_block> room;
  const std::byte* data = exchange.source;
  if (!place_->children.empty() && bytes_ > 0) {
    combine(exchange, room.data());
    data = room.data();
  }
  put_in_lines(exchange.cell(exchange.arena->rank()).lines, exchange.line_flag(), data, bytes_);
  exchange.arena->wake();
}

void Tree::combine(const Exchange& exchange, std::byte* result) const {
  if (bytes_ == 0) return;
  const std::byte* own = exchange.source;
  for (std::size_t child = 0; child < place_->children.size(); own = result)
    child = combine_level(exchange, child, own, result);
}

std::size_t Tree::combine_level(const Exchange& exchange, std::size_t first, const std::byte* own,
                                std::byte* result) const {
  alignas(cache_line) std::array<std::byte, (most_fanout - 1) * most_combined_block> copies;
  std::array<const void*, most_fanout> inputs{own};
  std::size_t count = 1;
  std::byte* copy = copies.data();
  std::size_t child = first;
  const auto& children = place_->children;
  for (; child < children.size() && children[child].level == children[first].level; ++child, ++count) {
    const Line* lines = exchange.cell(children[child].rank).lines;
    inputs[count] = lines->payload;
    if (bytes_ <= line_bytes) continue;
    get_from_lines(lines, copy, bytes_);
    inputs[count] = copy;
    copy += combined_room(bytes_);
  }
  const bool is_last = place_->parent < 0 && child == children.size();
  if (is_last)
    exchange.combine({inputs.data(), count}, result, bytes_);
  else
    exchange.combine_part({inputs.data(), count}, result, bytes_);
  return child;
}

Line* Tree::lines_down(const Exchange& exchange, int rank, int level) const {
  return exchange.cell(rank).lines + lines_up + static_cast<std::size_t>(level) * per_level_;
}

bool Tree::has_result_arrived(const Exchange& exchange) {
  const Line* lines = lines_down(exchange, place_->parent, place_->parent_level);
  if (!have_arrived(lines, exchange.line_flag(), lines_of(bytes_), line_)) return false;
  if (bytes_ > 0) get_from_lines(lines, exchange.output(), bytes_);
  return true;
}

void Tree::pass_down(const Exchange& exchange) {
  // The groups of the highest level come first, because the longest way is before them.
  int level = -1;
  for (std::size_t child = place_->children.size(); child-- > 0;) {
    if (place_->children[child].level == level) continue;
    level = place_->children[child].level;
    put_in_lines(lines_down(exchange, exchange.arena->rank(), level), exchange.line_flag(), exchange.output(), bytes_);
    if (per_level_ == 0) break;
  }
  if (level >= 0) exchange.arena->wake();
}

}  // namespace tutti::detail::shm
