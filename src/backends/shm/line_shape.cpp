// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/line_shape.hpp"

#include "kernels/copy.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::detail::shm {

LineShape::LineShape(const Signature& signature, const Shape& who, std::size_t largest, bool oversubscribed)
    : rank_(who.rank()), combines_(tutti::combines(signature.operation)) {
  const std::size_t unit = signature.type.size();
  bytes_ = combines_ ? who.part(rank_).count * unit : largest;
  lines_ = lines_of(bytes_);
  if (who.is_split()) stride_ = lines_of(largest);
  if (!combines_) apart_ = who.taken_offset(1) * unit;
  own_given_ = (combines_ ? who.part(rank_).offset : who.given_offset(rank_)) * unit;
  // One of more than two ranks goes through rank 0 if all wait, because fewer lines then change owners. Not if every
  // turn costs a process switch.
  find_partners(who, signature.kind == CallKind::blocking && who.size() > 2 && !oversubscribed);
  moves_ = bytes_ > 0 && (has_own_ || givers_.begin < givers_.end);
}

void LineShape::find_partners(const Shape& who, bool meets_at_first) {
  takers_ = givers_ = {0, who.size()};
  has_own_ = who.has_own_block();
  if (who.operation() == Operation::barrier) {
    if (!meets_at_first) return;
    waits_first_ = rank_ == 0;
    if (rank_ != 0) givers_ = {0, 1};
  } else if (has_root(who.operation())) {
    const bool root_gives = traits_of(who.operation()).root == RootPart::gives;
    (who.is_root() == root_gives ? givers_ : takers_) = {};
    if (!who.is_root()) (root_gives ? givers_ : takers_) = {who.root(), who.root() + 1};
  } else if (is_prefix(who.operation())) {
    takers_ = {rank_ + 1, who.size()};
    givers_ = {0, rank_};
  }
}

void LineShape::give(const Exchange& exchange) const {
  if (takers_.begin == takers_.end) return;
  Line* lines = exchange.cell(rank_).lines;
  if (stride_ == 0)
    put_in_lines(lines, exchange.line_flag(), exchange.source, bytes_);
  else
    give_each(exchange, lines);
  exchange.arena->wake();
}

void LineShape::give_each(const Exchange& exchange, Line* lines) const {
  const Shape who = exchange.shape();
  for (int to = takers_.begin; to < takers_.end; ++to) {
    if (to == rank_) continue;
    const Block block = who.given(to);
    put_in_lines(lines + static_cast<std::size_t>(to) * stride_, exchange.line_flag(),
                 exchange.source + block.offset * exchange.unit(), block.count * exchange.unit());
  }
}

void LineShape::take(const Exchange& exchange) const {
  if (!moves_) return;
  if (combines_) return combine(exchange);
  if (has_own_) copy_own(exchange);
  for (int giver = givers_.begin; giver < givers_.end; ++giver)
    if (giver != rank_)
      get_from_lines(from(exchange, giver), exchange.output() + static_cast<std::size_t>(giver) * apart_, bytes_);
}

void LineShape::copy_own(const Exchange& exchange) const {
  const std::byte* own = exchange.source + own_given_;
  std::byte* to = exchange.output() + static_cast<std::size_t>(rank_) * apart_;
  if (own == to) return;
  if (bytes_ <= line_bytes)
    copy_in_line(to, own, bytes_);
  else
    kernels::copy(to, own, bytes_);
}

void LineShape::combine(const Exchange& exchange) const {
  std::array<const void*, most_combined_bytes / cache_line> all;
  const std::span inputs(all.data(),
                         static_cast<std::size_t>(has_own_ ? std::max(givers_.end, rank_ + 1) : givers_.end));
  if (lines_ > 1) return combine_copies(exchange, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = from(exchange, static_cast<int>(i))->payload;
  if (has_own_) inputs[static_cast<std::size_t>(rank_)] = exchange.source + own_given_;
  exchange.combine(inputs, exchange.output(), bytes_);
}

void LineShape::combine_copies(const Exchange& exchange, std::span<const void*> inputs) const {
  alignas(cache_line) std::array<std::byte, most_combined_bytes> copies;
  std::byte* copy = copies.data();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = exchange.source + own_given_;
    if (static_cast<int>(i) == rank_) continue;
    get_from_lines(from(exchange, static_cast<int>(i)), copy, bytes_);
    inputs[i] = copy;
    copy += combined_room(bytes_);
  }
  exchange.combine(inputs, exchange.output(), bytes_);
}

std::shared_ptr<const LinePlan> line_plan(const Signature& signature, int rank, int size, bool oversubscribed) {
  if (signature.operation == Operation::reduce_scatter) return nullptr;
  const Binding none;
  const std::size_t block = signature.count * signature.type.size();
  return std::make_shared<const LinePlan>(LineShape(signature, {signature, none, rank, size}, block, oversubscribed));
}

}  // namespace tutti::detail::shm
