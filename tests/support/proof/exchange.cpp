// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "call/node_call.hpp"
#include "operation/shape.hpp"
#include "schedules/text.hpp"
#include "support/proof/fault.hpp"

namespace tutti::schedules {
namespace {

using detail::Shape;

/// Cells as addresses of bytes: nothing reads or writes there.
std::byte* at(std::size_t cell) {
  return reinterpret_cast<std::byte*>(cell + 1);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void ExchangeContract::Cells::add(std::size_t cell) {
  if (!runs_.empty() && runs_.back().end == cell)
    ++runs_.back().end;
  else
    runs_.push_back({cell, cell + 1});
}

void ExchangeContract::Cells::sort() {
  std::ranges::sort(runs_, {}, &Run::begin);
  std::size_t joined = 0;
  for (const Run& run : runs_)
    if (joined > 0 && run.begin <= runs_[joined - 1].end)
      runs_[joined - 1].end = std::max(runs_[joined - 1].end, run.end);
    else
      runs_[joined++] = run;
  runs_.resize(joined);
}

bool ExchangeContract::Cells::meets(std::size_t begin, std::size_t count) const {
  const auto after = std::ranges::upper_bound(runs_, begin, {}, &Run::end);
  return count > 0 && after != runs_.end() && after->begin < begin + count;
}

bool ExchangeContract::Cells::meets(const Cells& other) const {
  return std::ranges::any_of(runs_, [&](const Run& run) { return other.meets(run.begin, run.end - run.begin); });
}

ExchangeContract::ExchangeContract(std::span<const ExchangeSide> sides) : sides_(sides) {
  for (std::size_t place = 0; place < sides.size(); ++place) {
    const ExchangeSide& side = sides[place];
    signatures_.push_back(detail::node_signature(side.exchange, {}));
    bindings_.push_back(
        detail::node_binding(side.exchange, static_cast<int>(place), at(side.input), at(side.output), 1));
  }
  find_cells();
  check_memory();
}

bool ExchangeContract::keeps_own() const { return sides_[0].exchange.operation != Operation::bcast; }

void ExchangeContract::for_each_element(const Visit& visit) const {
  const int size = static_cast<int>(sides_.size());
  for (int to = 0; to < size; ++to) {
    if (combines(sides_[0].exchange.operation)) {
      combine(to, visit);
      continue;
    }
    for (int from = 0; from < size; ++from) move(from, to, visit);
  }
}

void ExchangeContract::combine(int to, const Visit& visit) const {
  const int size = static_cast<int>(sides_.size());
  const auto place = static_cast<std::size_t>(to);
  const Shape taker(signatures_[place], bindings_[place], to, size);
  if (!taker.has_result(to)) return;
  const Block part = taker.part(to);
  std::vector<ExchangeElement> operands;
  for (std::size_t i = 0; i < part.count; ++i) {
    operands.clear();
    for (int from = 0; from < taker.contributions(to); ++from)
      operands.push_back(given_by(static_cast<std::size_t>(from), part.offset + i));
    visit(taken_by(place, i), operands);
  }
}

void ExchangeContract::move(int from, int to, const Visit& visit) const {
  const int size = static_cast<int>(sides_.size());
  const auto giver_place = static_cast<std::size_t>(from);
  const auto taker_place = static_cast<std::size_t>(to);
  const Shape giver(signatures_[giver_place], bindings_[giver_place], from, size);
  const Shape taker(signatures_[taker_place], bindings_[taker_place], to, size);
  const bool is_own = from == to && keeps_own() && (!has_root(giver.operation()) || to == giver.root());
  if (!is_own && !giver.flows(from, to)) return;
  const Block given = giver.given(to);
  const Block taken = taker.taken(from);
  if (given.count != taken.count)
    throw Fault(fmt::format("{}: rank {} gives {} elements, of which rank {} expects {}", to_text(sides_[0].exchange),
                            sides_[giver_place].rank, given.count, sides_[taker_place].rank, taken.count));
  for (std::size_t i = 0; i < given.count; ++i) {
    const ExchangeElement operand = given_by(giver_place, given.offset + i);
    visit(taken_by(taker_place, taken.offset + i), {&operand, 1});
  }
}

void ExchangeContract::find_cells() {
  read_.resize(sides_.size());
  written_.resize(sides_.size());
  const bool has_inputs = keeps_own();
  for_each_element([&](const ExchangeElement& to, std::span<const ExchangeElement> from) {
    const ExchangeSide& taker = sides_[to.place];
    written_[to.place].add(taker.output + to.slice.offset - taker.exchange.output.offset);
    for (const ExchangeElement& one : from) {
      const ExchangeSide& giver = sides_[one.place];
      read_[one.place].add(has_inputs ? giver.input + one.slice.offset - giver.exchange.input.offset
                                      : giver.output + one.slice.offset - giver.exchange.output.offset);
    }
  });
  for (std::vector<Cells>* all : {&read_, &written_})
    for (Cells& cells : *all) cells.sort();
}

void ExchangeContract::check_memory() const {
  for (std::size_t i = 0; i < sides_.size() && keeps_own(); ++i)
    if (!bindings_[i].in_place && read_[i].meets(written_[i]))
      throw Fault(fmt::format("rank {}: {} overlaps itself otherwise than in place", sides_[i].rank,
                              to_text(sides_[i].exchange)));
}

ExchangeElement ExchangeContract::given_by(std::size_t place, std::size_t index) const {
  const ExchangeSide& side = sides_[place];
  const Slice& base = side.exchange.operation == Operation::bcast ? side.exchange.output : side.exchange.input;
  return {place, {base.buffer, base.offset + index, 1}};
}

ExchangeElement ExchangeContract::taken_by(std::size_t place, std::size_t index) const {
  const ExchangeSide& side = sides_[place];
  return {place, {side.exchange.output.buffer, side.exchange.output.offset + index, 1}};
}

}  // namespace tutti::schedules
