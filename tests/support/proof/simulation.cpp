// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedules/text.hpp"
#include "support/proof/exchange.hpp"

namespace tutti::schedules {
namespace {

constexpr std::size_t word = 64;

constexpr std::size_t index_of(BufferName name) { return static_cast<std::size_t>(name); }

}  // namespace

Simulation::Simulation(const World& world, const std::vector<Schedule>& schedules, bool in_place)
    : world_(world), schedules_(schedules), terms_(world.size()), ranks_(schedules.size()) {
  for (int rank = 0; rank < world.size(); ++rank) {
    place(rank, in_place);
    for (std::size_t k = 0; k < schedules[rank].rounds.size(); ++k) check_round(rank, k);
  }
}

void Simulation::place(int rank, bool in_place) {
  Rank& r = ranks_[rank];
  r.count[index_of(BufferName::input)] = world_.input_count(rank);
  r.count[index_of(BufferName::output)] = world_.output_count(rank);
  r.count[index_of(BufferName::scratch)] = schedules_[rank].scratch_count;
  Placement placement{0, r.count[0]};
  if (in_place && schedules_[rank].alias_safe) placement = world_.in_place(rank).value_or(placement);
  r.base[0] = placement.input;
  r.base[1] = placement.output;
  r.base[2] = std::max(r.base[0] + r.count[0], r.base[1] + r.count[1]);
  r.cells.resize(r.base[2] + r.count[2]);
  for (std::size_t cell = 0; cell < r.base[2]; ++cell) r.cells[cell] = at_start(rank, cell);
  if (world_.operation() != Operation::barrier) return;
  r.heard.resize(ranks_.size() / word + 1);
  r.heard[static_cast<std::size_t>(rank) / word] |= std::uint64_t{1} << static_cast<unsigned>(rank) % word;
  r.hears = r.heard;
}

Symbol Simulation::at_start(int rank, std::size_t cell) const {
  const Rank& r = ranks_[rank];
  const std::size_t given = world_.output_is_given(rank) ? 1 : 0;
  if (cell < r.base[given] || cell >= r.base[given] + r.count[given]) return {};
  return {Terms::of_rank(rank), static_cast<std::uint32_t>(cell - r.base[given])};
}

void Simulation::check_round(int rank, std::size_t k) {
  const Round& round = schedules_[rank].rounds[k];
  for (const Transfer& t : round.transfers) {
    if (t.slice.count == 0 && world_.operation() != Operation::barrier)
      throw Fault(fmt::format("rank {} round {}: {} is empty", rank, k, to_text(t)));
    check_slice(rank, t.slice, !sends(t));
  }
  check_transfers(rank, round);
  for (const Local& local : round.locals) check_local(rank, local);
}

void Simulation::check_slice(int rank, const Slice& slice, bool writes) const {
  if (writes && slice.buffer == BufferName::input)
    throw Fault(fmt::format("rank {}: {} is written, the input is only read", rank, to_text(slice)));
  if (slice.offset + slice.count > ranks_[rank].count[index_of(slice.buffer)])
    throw Fault(fmt::format("rank {}: {} is outside its buffer of {} elements", rank, to_text(slice),
                            ranks_[rank].count[index_of(slice.buffer)]));
}

void Simulation::check_transfers(int rank, const Round& round) {
  // Sorted by address, a written slice can only meet its neighbours once all before it are apart.
  by_address_.clear();
  for (const Transfer& t : round.transfers) by_address_.push_back(&t);
  std::sort(by_address_.begin(), by_address_.end(),
            [&](const Transfer* a, const Transfer* b) { return address(rank, a->slice) < address(rank, b->slice); });
  std::size_t read_end = 0;
  std::size_t write_end = 0;
  for (const Transfer* t : by_address_) {
    const std::size_t begin = address(rank, t->slice);
    if (t->slice.count > 0 && (begin < write_end || (!sends(*t) && begin < read_end)))
      throw Fault(fmt::format("rank {}: {} overlaps another transfer of its round", rank, to_text(*t)));
    std::size_t& end = sends(*t) ? read_end : write_end;
    end = std::max(end, begin + t->slice.count);
  }
}

void Simulation::check_local(int rank, const Local& local) const {
  if (local.inputs.empty() || (local.kind == Local::Kind::copy) != (local.inputs.size() == 1))
    throw Fault(fmt::format("rank {}: {} has the wrong number of inputs", rank, to_text(local)));
  check_slice(rank, local.output, true);
  const std::size_t to = address(rank, local.output);
  for (const Slice& slice : local.inputs) {
    check_slice(rank, slice, false);
    if (slice.count != local.output.count)
      throw Fault(fmt::format("rank {}: {} has operands of different sizes", rank, to_text(local)));
    const std::size_t from = address(rank, slice);
    if (from != to && from < to + slice.count && to < from + slice.count)
      throw Fault(fmt::format("rank {}: {} overlaps an operand in part", rank, to_text(local)));
  }
}

void Simulation::run(const Matching& matching, const Order& order) {
  Rendezvous(schedules_, matching)
      .run(
          order, [](int, std::size_t) {}, [this](const End& send, const End& recv) { deliver(send, recv); },
          [this](const Matching::Meeting& meeting) { exchange(meeting); },
          [this](int rank, std::size_t round) { end_round(rank, round); });
  if (world_.operation() == Operation::barrier) check_barrier();
}

void Simulation::deliver(const End& send, const End& recv) {
  copy(send.rank, slice_at(send), ranks_[recv.rank].cells.data() + address(recv.rank, slice_at(recv)));
  if (world_.operation() == Operation::barrier) listen(send.rank, recv.rank);
}

void Simulation::copy(int rank, const Slice& from, Symbol* to) const {
  const Symbol* cells = read(rank, from);
  for (std::size_t i = 0; i < from.count; ++i) to[i] = cells[i];
}

void Simulation::listen(int sender, int receiver) {
  const auto& heard = ranks_[sender].heard;
  auto& hears = ranks_[receiver].hears;
  for (std::size_t i = 0; i < heard.size(); ++i) hears[i] |= heard[i];
}

void Simulation::exchange(const Matching::Meeting& meeting) {
  std::vector<ExchangeSide> sides;
  for (const End& end : meeting) {
    const Exchange& own = *schedules_[end.rank].rounds[end.round].exchange;
    sides.push_back({end.rank, own, address(end.rank, own.input), address(end.rank, own.output)});
  }
  if (world_.operation() == Operation::barrier) {
    for (const End& from : meeting)
      for (const End& to : meeting) listen(from.rank, to.rank);
    return;
  }
  const ExchangeContract contract(sides);
  for (std::size_t place = 0; place < meeting.size(); ++place)
    for (const Transfer& t : schedules_[meeting[place].rank].rounds[meeting[place].round].transfers) {
      const std::size_t begin = address(meeting[place].rank, t.slice);
      const bool is_read = !sends(t) && contract.read(place).meets(begin, t.slice.count);
      if (is_read || contract.written(place).meets(begin, t.slice.count))
        throw Fault(
            fmt::format("rank {}: {} meets the exchange of its round in memory", meeting[place].rank, to_text(t)));
    }
  struct Write {
    Symbol* to;
    Symbol value;
  };
  std::vector<Write> writes;
  std::vector<Terms::Id> operands;
  contract.for_each_element([&](const ExchangeElement& to, std::span<const ExchangeElement> from) {
    const int taker = sides[to.place].rank;
    check_slice(taker, to.slice, true);
    operands.clear();
    std::uint32_t element = 0;
    for (const ExchangeElement& one : from) {
      const int giver = sides[one.place].rank;
      check_slice(giver, one.slice, false);
      const Symbol& given = *read(giver, one.slice);
      if (!operands.empty() && given.element != element)
        throw Fault(fmt::format("rank {}: {} combines different elements", taker, to_text(sides.front().exchange)));
      element = given.element;
      operands.push_back(given.term);
    }
    const Terms::Id term = operands.size() == 1 ? operands[0] : terms_.combine(operands);
    writes.push_back({ranks_[taker].cells.data() + address(taker, to.slice), {term, element}});
  });
  for (const Write& write : writes) *write.to = write.value;
}

void Simulation::end_round(int rank, std::size_t round) {
  for (const Local& local : schedules_[rank].rounds[round].locals) run_local(rank, local);
  if (world_.operation() == Operation::barrier) ranks_[rank].heard = ranks_[rank].hears;
}

void Simulation::run_local(int rank, const Local& local) {
  Symbol* to = ranks_[rank].cells.data() + address(rank, local.output);
  if (local.kind == Local::Kind::copy) {
    copy(rank, local.inputs.front(), to);
    return;
  }
  std::vector<const Symbol*> inputs;
  for (const Slice& slice : local.inputs) inputs.push_back(read(rank, slice));
  std::vector<Terms::Id> operands(inputs.size());
  Terms::Id product = Terms::nothing;
  for (std::size_t i = 0; i < local.output.count; ++i) {
    const std::uint32_t element = inputs.front()[i].element;
    for (std::size_t j = 0; j < operands.size(); ++j) {
      const Symbol& operand = inputs[j][i];
      if (operand.element != element)
        throw Fault(fmt::format("rank {}: {} combines different elements", rank, to_text(local)));
      if (operands[j] != operand.term) product = Terms::nothing;
      operands[j] = operand.term;
    }
    if (product == Terms::nothing) product = terms_.combine(operands);
    to[i] = {product, element};
  }
}

void Simulation::check_barrier() const {
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    for (std::size_t j = 0; j < ranks_.size(); ++j)
      if ((ranks_[i].heard[j / word] >> j % word & 1) == 0)
        throw Fault(fmt::format("rank {} leaves the barrier before rank {} entered", i, j));
}

std::size_t Simulation::address(int rank, const Slice& slice) const {
  return ranks_[rank].base[index_of(slice.buffer)] + slice.offset;
}

const Symbol* Simulation::read(int rank, const Slice& slice) const {
  const Symbol* cells = ranks_[rank].cells.data() + address(rank, slice);
  for (std::size_t i = 0; i < slice.count; ++i)
    if (cells[i].term == Terms::nothing)
      throw Fault(
          fmt::format("rank {}: {} is read at {} but was never written", rank, to_text(slice), slice.offset + i));
  return cells;
}

const Slice& Simulation::slice_at(const End& end) const {
  return schedules_[end.rank].rounds[end.round].transfers[end.index].slice;
}

const Symbol& Simulation::result(int rank, std::size_t index) const {
  return ranks_[rank].cells[ranks_[rank].base[1] + index];
}

bool Simulation::is_untouched(int rank, std::size_t index) const {
  return result(rank, index) == at_start(rank, ranks_[rank].base[1] + index);
}

}  // namespace tutti::schedules
