// SPDX-License-Identifier: BSD-3-Clause
#include "algorithms/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "algorithms/text.hpp"

namespace tutti::algorithms {
namespace {

constexpr std::size_t index_of(BufferName name) { return static_cast<std::size_t>(name); }

bool sends(const Transfer& transfer) { return transfer.kind == Transfer::Kind::send; }

}  // namespace

Simulation::Simulation(const World& world, const std::vector<Schedule>& schedules, bool in_place)
    : world_(world), schedules_(schedules), ranks_(schedules.size()) {
  for (int rank = 0; rank < world.size(); ++rank) place(rank, in_place);
  match();
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
  r.cells.assign(r.base[2] + r.count[2], Symbols::unwritten);
  for (std::size_t i = 0; i < r.count[0]; ++i) r.cells[r.base[0] + i] = symbols_.contribution(rank, i);
  if (world_.output_is_given(rank))
    for (std::size_t i = 0; i < r.count[1]; ++i) r.cells[r.base[1] + i] = symbols_.contribution(rank, i);
  const auto output = r.cells.begin() + static_cast<std::ptrdiff_t>(r.base[1]);
  r.output_at_start.assign(output, output + static_cast<std::ptrdiff_t>(r.count[1]));
  r.heard.assign(ranks_.size(), 0);
  r.heard[rank] = 1;
  r.hears = r.heard;
}

void Simulation::match() {
  struct Channel {
    std::vector<End> sent;
    std::vector<End> received;
  };
  std::map<std::pair<int, int>, Channel> channels;
  for (int rank = 0; rank < world_.size(); ++rank) {
    const auto& rounds = schedules_[rank].rounds;
    ranks_[rank].ends.resize(rounds.size());
    for (std::size_t k = 0; k < rounds.size(); ++k) {
      check_round(rank, k);
      ranks_[rank].ends[k].resize(rounds[k].transfers.size());
      for (std::size_t i = 0; i < rounds[k].transfers.size(); ++i) {
        const Transfer& t = rounds[k].transfers[i];
        (sends(t) ? channels[{rank, t.peer}].sent : channels[{t.peer, rank}].received).push_back({rank, k, i});
      }
    }
  }
  const auto transfer_at = [this](const End& e) -> const Transfer& {
    return schedules_[e.rank].rounds[e.round].transfers[e.index];
  };
  for (const auto& [pair, channel] : channels) {
    const std::size_t both = std::min(channel.sent.size(), channel.received.size());
    for (std::size_t i = 0; i < both; ++i) {
      const End& s = channel.sent[i];
      const End& r = channel.received[i];
      if (transfer_at(s).slice.count != transfer_at(r).slice.count)
        throw Fault(fmt::format("message {} from rank {} to rank {} has {} elements sent and {} expected", i,
                                pair.first, pair.second, transfer_at(s).slice.count, transfer_at(r).slice.count));
      ranks_[s.rank].ends[s.round][s.index] = r;
      ranks_[r.rank].ends[r.round][r.index] = s;
    }
    if (channel.sent.size() != channel.received.size())
      throw Fault(fmt::format("from rank {} to rank {} {} messages are sent and {} expected: one is unmatched",
                              pair.first, pair.second, channel.sent.size(), channel.received.size()));
  }
}

void Simulation::check_round(int rank, std::size_t k) const {
  const Round& round = schedules_[rank].rounds[k];
  for (const Transfer& t : round.transfers) {
    if (t.peer < 0 || t.peer >= world_.size() || t.peer == rank)
      throw Fault(fmt::format("rank {} round {}: {} has no valid peer", rank, k, to_text(t)));
    if (t.slice.count == 0 && world_.operation() != Operation::barrier)
      throw Fault(fmt::format("rank {} round {}: {} is empty", rank, k, to_text(t)));
    check_slice(rank, t.slice, !sends(t));
  }
  for (const Local& local : round.locals) {
    check_slice(rank, local.output, true);
    for (const Slice& slice : local.inputs) check_slice(rank, slice, false);
    if (local.inputs.empty() || (local.kind == Local::Kind::copy) != (local.inputs.size() == 1))
      throw Fault(fmt::format("rank {} round {}: {} has the wrong number of inputs", rank, k, to_text(local)));
  }
  check_overlaps(rank, round);
}

void Simulation::check_slice(int rank, const Slice& slice, bool writes) const {
  if (writes && slice.buffer == BufferName::input)
    throw Fault(fmt::format("rank {}: {} is written, the input is only read", rank, to_text(slice)));
  if (slice.offset + slice.count > ranks_[rank].count[index_of(slice.buffer)])
    throw Fault(fmt::format("rank {}: {} is outside its buffer of {} elements", rank, to_text(slice),
                            ranks_[rank].count[index_of(slice.buffer)]));
}

void Simulation::check_overlaps(int rank, const Round& round) const {
  const auto overlap = [&](const Slice& a, const Slice& b) {
    return address(rank, a) < address(rank, b) + b.count && address(rank, b) < address(rank, a) + a.count;
  };
  // Sorted by address, a written slice can only meet its neighbours once all before it are apart.
  std::vector<const Transfer*> order;
  for (const Transfer& t : round.transfers) order.push_back(&t);
  std::sort(order.begin(), order.end(),
            [&](const Transfer* a, const Transfer* b) { return address(rank, a->slice) < address(rank, b->slice); });
  std::size_t read_end = 0;
  std::size_t write_end = 0;
  for (const Transfer* t : order) {
    const std::size_t begin = address(rank, t->slice);
    if (t->slice.count > 0 && (begin < write_end || (!sends(*t) && begin < read_end)))
      throw Fault(fmt::format("rank {}: {} overlaps another transfer of its round", rank, to_text(*t)));
    std::size_t& end = sends(*t) ? read_end : write_end;
    end = std::max(end, begin + t->slice.count);
  }
  for (const Local& local : round.locals)
    for (const Slice& slice : local.inputs) {
      if (slice.count != local.output.count)
        throw Fault(fmt::format("rank {}: {} has operands of different sizes", rank, to_text(local)));
      if (overlap(slice, local.output) && address(rank, slice) != address(rank, local.output))
        throw Fault(fmt::format("rank {}: {} overlaps an operand in part", rank, to_text(local)));
    }
}

void Simulation::run() {
  for (int rank = 0; rank < world_.size(); ++rank) post(rank);
  while (!ready_.empty()) {
    const int rank = ready_.back();
    ready_.pop_back();
    finish_round(rank);
    post(rank);
  }
  check_end();
}

void Simulation::post(int rank) {
  Rank& r = ranks_[rank];
  const auto& rounds = schedules_[rank].rounds;
  if (r.posted == rounds.size()) return;
  const std::size_t k = r.posted++;
  r.pending = rounds[k].transfers.size();
  for (std::size_t i = 0; i < rounds[k].transfers.size(); ++i) {
    const End& end = r.ends[k][i];
    if (ranks_[end.rank].posted <= end.round) continue;
    const Transfer& mine = rounds[k].transfers[i];
    const Transfer& other = schedules_[end.rank].rounds[end.round].transfers[end.index];
    if (sends(mine))
      deliver(rank, end.rank, mine, other);
    else
      deliver(end.rank, rank, other, mine);
    --r.pending;
    if (--ranks_[end.rank].pending == 0) ready_.push_back(end.rank);
  }
  if (r.pending == 0) ready_.push_back(rank);
}

void Simulation::deliver(int sender, int receiver, const Transfer& send, const Transfer& recv) {
  const std::size_t to = address(receiver, recv.slice);
  for (std::size_t i = 0; i < send.slice.count; ++i) ranks_[receiver].cells[to + i] = read(sender, send.slice, i);
  for (std::size_t i = 0; i < ranks_.size() && world_.operation() == Operation::barrier; ++i)
    ranks_[receiver].hears[i] |= ranks_[sender].heard[i];
}

void Simulation::finish_round(int rank) {
  Rank& r = ranks_[rank];
  for (const Local& local : schedules_[rank].rounds[r.posted - 1].locals) run_local(rank, local);
  r.heard = r.hears;
}

void Simulation::run_local(int rank, const Local& local) {
  const std::size_t to = address(rank, local.output);
  std::vector<Symbols::Id> operands(local.inputs.size());
  for (std::size_t i = 0; i < local.output.count; ++i) {
    for (std::size_t j = 0; j < operands.size(); ++j) operands[j] = read(rank, local.inputs[j], i);
    const Symbols::Id value = local.kind == Local::Kind::copy ? operands.front() : symbols_.combine(operands);
    if (value == Symbols::unwritten)
      throw Fault(fmt::format("rank {}: {} combines different elements", rank, to_text(local)));
    ranks_[rank].cells[to + i] = value;
  }
}

void Simulation::check_end() const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& r = ranks_[i];
    const auto& rounds = schedules_[i].rounds;
    if (r.posted == rounds.size() && (r.pending == 0 || rounds.empty())) continue;
    const std::size_t k = r.posted - 1;
    for (std::size_t j = 0; j < rounds[k].transfers.size(); ++j) {
      const End& end = r.ends[k][j];
      if (ranks_[end.rank].posted <= end.round)
        throw Fault(fmt::format("deadlock: rank {} waits in round {} to {}, which rank {} posts in its round {}", i, k,
                                to_text(rounds[k].transfers[j]), end.rank, end.round));
    }
  }
  if (world_.operation() != Operation::barrier) return;
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    for (std::size_t j = 0; j < ranks_.size(); ++j)
      if (ranks_[i].heard[j] == 0) throw Fault(fmt::format("rank {} leaves the barrier before rank {} entered", i, j));
}

std::size_t Simulation::address(int rank, const Slice& slice) const {
  return ranks_[rank].base[index_of(slice.buffer)] + slice.offset;
}

Symbols::Id Simulation::read(int rank, const Slice& slice, std::size_t i) const {
  const Symbols::Id value = ranks_[rank].cells[address(rank, slice) + i];
  if (value == Symbols::unwritten)
    throw Fault(fmt::format("rank {}: {} is read at {} but was never written", rank, to_text(slice), slice.offset + i));
  return value;
}

const Symbol& Simulation::result(int rank, std::size_t index) const {
  return symbols_[ranks_[rank].cells[ranks_[rank].base[1] + index]];
}

bool Simulation::is_untouched(int rank, std::size_t index) const {
  return ranks_[rank].cells[ranks_[rank].base[1] + index] == ranks_[rank].output_at_start[index];
}

}  // namespace tutti::algorithms
