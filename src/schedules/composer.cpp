// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/composer.hpp"

#include <algorithm>
#include <utility>

namespace tutti::schedules {

Slice Composer::reserve(std::size_t count) {
  const Slice slice = scratch(reserved_, count);
  reserved_ += count;
  return slice;
}

void Composer::append(const Schedule& phase, const RankList& group, const Slice& in, const Slice& out) {
  shared_ = std::max(shared_, phase.scratch_count);
  end_round();
  for (const Round& round : phase.rounds) append_round(round, group, in, out);
}

void Composer::exchange(Exchange&& exchange, Start start) {
  flush_copy();
  if (start == Start::after) builder_.end_round();
  builder_.exchange(std::move(exchange));
}

void Composer::end_round() {
  flush_copy();
  builder_.end_round();
}

void Composer::append_round(const Round& round, const RankList& group, const Slice& in, const Slice& out) {
  for (const Transfer& t : round.transfers)
    builder_.transfer({t.kind, group[static_cast<std::size_t>(t.peer)], translate(t.slice, in, out)});
  for (const Local& local : round.locals) {
    std::vector<Slice> inputs;
    for (const Slice& slice : local.inputs) inputs.push_back(translate(slice, in, out));
    if (local.kind == Local::Kind::copy)
      builder_.copy(inputs.front(), translate(local.output, in, out));
    else
      builder_.reduce(std::move(inputs), translate(local.output, in, out));
  }
  builder_.end_round();
}

void Composer::copy(const Slice& from, const Slice& to) {
  const auto follows = [](const Slice& last, const Slice& next) {
    return last.buffer == next.buffer && last.offset + last.count == next.offset;
  };
  if (to.count == 0) return;
  if (copy_to_.count > 0 && follows(copy_from_, from) && follows(copy_to_, to)) {
    copy_from_.count += from.count;
    copy_to_.count += to.count;
    return;
  }
  flush_copy();
  copy_from_ = from;
  copy_to_ = to;
}

void Composer::flush_copy() { builder_.copy(std::exchange(copy_from_, {}), std::exchange(copy_to_, {})); }

void Composer::reduce(std::vector<Slice> inputs, const Slice& to) {
  flush_copy();
  builder_.reduce(std::move(inputs), to);
}

Schedule Composer::finish(bool alias_safe) {
  flush_copy();
  return builder_.finish(reserved_ + shared_, alias_safe);
}

Slice Composer::translate(const Slice& slice, const Slice& in, const Slice& out) const {
  switch (slice.buffer) {
    case BufferName::input:
      return {in.buffer, in.offset + slice.offset, slice.count};
    case BufferName::output:
      return {out.buffer, out.offset + slice.offset, slice.count};
    case BufferName::scratch:
      break;
  }
  return scratch(reserved_ + slice.offset, slice.count);
}

}  // namespace tutti::schedules
