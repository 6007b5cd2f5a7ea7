// SPDX-License-Identifier: BSD-3-Clause
#include "replay/torch_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti::commbench::replay {
namespace {

std::vector<int> first_ranks(std::size_t count) {
  std::vector<int> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The place of a rank of the job in a communicator.
int place_of(const Record& source, const std::vector<int>& members, int rank, const char* what) {
  const auto found = std::find(members.begin(), members.end(), rank);
  if (found == members.end())
    source.fail(fmt::format("{} {} is no rank of the communicator, which has {} ranks", what, rank, members.size()));
  return static_cast<int>(found - members.begin());
}

}  // namespace

TorchCalls::TorchCalls(const char* format, int rank, int ranks) : rank_(rank), ranks_(ranks), timeline_(recording_) {
  recording_.format = format;
}

std::size_t TorchCalls::ranks_of(const TorchRecord& call) const {
  if (call.ranks != 0) return call.ranks;
  const std::size_t splits = std::max(call.sizes.in_split.size(), call.sizes.out_split.size());
  if (splits != 0) return splits;
  return static_cast<std::size_t>(std::max(ranks_, call.peer + 1));
}

std::optional<std::size_t> TorchCalls::group_of(const TorchRecord& call) {
  // The number of a group whose ranks are not told may be an address, and then differs from rank to rank.
  std::vector<int> members = call.members;
  const bool is_known = !members.empty();
  if (!is_known) members = first_ranks(ranks_of(call));
  if (std::find(members.begin(), members.end(), rank_) == members.end()) return std::nullopt;
  const std::string name = is_known ? call.group : "all";
  const Group group{name, name, members};
  const auto [found, is_new] = groups_.try_emplace(group, recording_.groups.size());
  if (is_new) recording_.groups.push_back(group);
  recording_.ranks = std::max(recording_.ranks, 1 + *std::max_element(members.begin(), members.end()));
  return found->second;
}

Datatype TorchCalls::type_of(const Record& source, const TorchRecord& call) const {
  if (const auto type = find_torch_type(call.type)) return *type;
  source.fail(fmt::format("'{}' is no datatype that is known, such as Float or bfloat16", call.type));
}

void TorchCalls::start(RecordedCall&& recorded, const TorchRecord& call) {
  recorded.mode = Mode::nonblocking;
  const std::size_t number = timeline_.start(std::move(recorded), call.begin);
  is_waited_for_.push_back(false);
  lengths_.push_back(call.length);
  if (!call.request.empty()) open_[call.request].push_back(number);
}

void TorchCalls::add_message(const Record& source, const TorchRecord& call, bool is_recv) {
  const auto group = group_of(call);
  if (!group) return;
  RecordedCall recorded;
  recorded.group = *group;
  const auto& members = recording_.groups[recorded.group].world_ranks;
  const std::size_t elements = is_recv ? std::max(call.sizes.out, call.sizes.in) : call.sizes.in;
  recorded.exchange.messages.push_back({is_recv,
                                        place_of(source, members, call.peer, is_recv ? "source" : "destination"),
                                        call.tag, elements * type_of(source, call).size()});
  start(std::move(recorded), call);
}

/// The oldest call with that request. One that is not in the trace began before it.
void TorchCalls::end(const TorchRecord& wait) {
  auto& open = open_[wait.request];
  if (open.empty()) return;
  is_waited_for_[open.front()] = true;
  timeline_.wait(open.front(), wait.begin, wait.length);
  open.pop_front();
}

void TorchCalls::add(const Record& source, TorchRecord&& call) {
  const TorchCall found = find_torch_call(call.name);
  switch (found.kind) {
    case TorchKind::unknown:
      return leave_out(call.name);
    case TorchKind::nothing:
      return;
    case TorchKind::wait:
      return end(call);
    case TorchKind::send:
    case TorchKind::recv:
      return add_message(source, call, found.kind == TorchKind::recv);
    case TorchKind::collective:
      break;
  }
  const auto group = group_of(call);
  if (!group) return;
  RecordedCall recorded;
  recorded.group = *group;
  const std::size_t ranks = recording_.groups[recorded.group].world_ranks.size();
  const Datatype type = found.operation == Operation::barrier ? DatatypeKind::uint8 : type_of(source, call);
  recorded.exchange = torch_exchange(source, found.operation, type, call.sizes, ranks);
  recorded.exchange.root = traits_of(found.operation).has_root() ? call.root : 0;
  if (recorded.exchange.root < 0 || static_cast<std::size_t>(recorded.exchange.root) >= ranks)
    source.fail(fmt::format("root {} is no rank of the communicator, which has {} ranks", call.root, ranks));
  start(std::move(recorded), call);
}

void TorchCalls::set_length(std::size_t step, double length) {
  if (step < recording_.steps.size()) lengths_[recording_.steps[step].call] = length;
}

Recording TorchCalls::take(bool has_times) {
  for (Step& step : recording_.steps) {
    RecordedCall& call = recording_.calls[step.call];
    if (step.kind != Step::Kind::start || is_waited_for_[step.call] || !call.exchange.operation) continue;
    call.mode = Mode::blocking;
    step.kind = Step::Kind::run;
    step.length = lengths_[step.call];
  }
  recording_.has_times = has_times;
  timeline_.finish(std::nullopt);
  return std::move(recording_);
}

}  // namespace tutti::commbench::replay
