// SPDX-License-Identifier: BSD-3-Clause
#include "replay/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tutti/tutti.hpp>
#include <utility>

#include "common/counter_random.hpp"
#include "team.hpp"

namespace tutti::commbench::replay {
namespace {

using nlohmann::json;

constexpr std::size_t none = static_cast<std::size_t>(-1);

bool has(const Group& group, int rank) {
  return std::find(group.world_ranks.begin(), group.world_ranks.end(), rank) != group.world_ranks.end();
}

/// Equal on all ranks of a call.
std::uint64_t digest_of(const Exchange& exchange) {
  std::uint64_t digest = 0;
  const auto add = [&digest](std::uint64_t word) { digest = miniapps::mix_counter(digest ^ word); };
  add(static_cast<std::uint64_t>(*exchange.operation));
  add(static_cast<std::uint64_t>(exchange.type.kind()));
  add(exchange.op ? static_cast<std::uint64_t>(*exchange.op) : 99);
  add(static_cast<std::uint64_t>(exchange.root));
  add(exchange.count);
  const bool shares_counts =
      exchange.operation == Operation::allgatherv || exchange.operation == Operation::reduce_scatter;
  for (std::size_t i = 0; shares_counts && i < exchange.recv_counts.size(); ++i) add(exchange.recv_counts[i]);
  return digest;
}

/// The collectives on a communicator, in their order.
std::vector<std::size_t> collectives_on(const std::vector<RecordedCall>& calls, std::size_t group) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (calls[i].group == group && calls[i].exchange.operation) found.push_back(i);
  return found;
}

/// The first of equally many values that differs among the ranks; none: they are equal.
std::size_t first_difference(const Communicator& comm, const std::vector<std::uint64_t>& values) {
  std::vector<std::uint64_t> least = values;
  std::vector<std::uint64_t> most = values;
  tutti::allreduce(comm, least, tutti::min);
  tutti::allreduce(comm, most, tutti::max);
  const auto [a, b] = std::mismatch(least.begin(), least.end(), most.begin());
  return a == least.end() ? none : static_cast<std::size_t>(a - least.begin());
}

/// Of different texts the first two, with their ranks.
std::string first_two(const std::vector<std::string>& texts, const Group& group) {
  const auto other = std::find_if(texts.begin(), texts.end(), [&](const auto& text) { return text != texts.front(); });
  const auto rank = [&](auto at) { return group.world_ranks[static_cast<std::size_t>(at - texts.begin())]; };
  return fmt::format("rank {} {}, rank {} {}", rank(texts.begin()), texts.front(), rank(other), *other);
}

constexpr const char* remedy = "; pass the whole trace of one run, with the files of all its ranks";

/// What this rank gives to each rank: its length, and where it begins.
void write_given(const Exchange& exchange, std::size_t call, std::size_t calls, std::vector<std::uint64_t>& given) {
  std::size_t begin = 0;
  const bool is_split = traits_of(*exchange.operation).given == BlockKind::counted;
  for (std::size_t to = 0; to < exchange.send_counts.size(); ++to) {
    std::uint64_t* at = given.data() + 2 * (to * calls + call);
    at[0] = exchange.send_counts[to];
    at[1] = begin;
    if (is_split) begin += exchange.send_counts[to];
  }
}

bool moves_blocks(const Exchange& exchange) {
  return exchange.has_counts() && exchange.operation != Operation::reduce_scatter;
}

/// Tells the others what this rank gives them in some calls with counts. Returns what does not fit.
std::string exchange_offsets(const Communicator& comm, const Group& group, const std::vector<RecordedCall>& calls,
                             const std::vector<std::size_t>& numbers, std::vector<std::vector<std::size_t>>& offsets) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::uint64_t> given(2 * ranks * numbers.size());
  std::vector<std::uint64_t> taken(given.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) write_given(calls[numbers[i]].exchange, i, numbers.size(), given);
  tutti::alltoall(comm, given, taken);
  std::string problem;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Exchange& exchange = calls[numbers[i]].exchange;
    for (std::size_t from = 0; from < ranks; ++from) {
      const std::uint64_t* block = taken.data() + 2 * (from * numbers.size() + i);
      offsets[numbers[i]].push_back(block[1]);
      if (problem.empty() && block[0] != exchange.recv_counts[from])
        problem = fmt::format("{} of communicator '{}': rank {} gives {} elements, but this rank expects {}{}",
                              words_of(exchange), group.name, group.world_ranks[from], block[0],
                              exchange.recv_counts[from], remedy);
    }
  }
  return problem;
}

/// Returns in what the collectives on a communicator, of these numbers, differ from those of the other ranks.
std::string difference_on(const Communicator& comm, const Group& group, const std::vector<RecordedCall>& calls,
                          const std::vector<std::size_t>& numbers) {
  const Team team(comm);
  if (first_difference(comm, {numbers.size()}) != none) {
    const auto texts = team.all_texts(fmt::format("has {}", numbers.size()));
    return fmt::format("the collectives on communicator '{}' are not equally many: {}{}", group.name,
                       first_two(texts, group), remedy);
  }
  std::vector<std::uint64_t> digests;
  for (const std::size_t number : numbers) digests.push_back(digest_of(calls[number].exchange));
  const std::size_t other = numbers.empty() ? none : first_difference(comm, digests);
  if (other == none) return {};
  const auto texts = team.all_texts("calls " + words_of(calls[numbers[other]].exchange));
  return fmt::format("collective {} on communicator '{}' differs: {}{}", other + 1, group.name, first_two(texts, group),
                     remedy);
}

/// Returns what does not fit among the calls on a communicator; else notes where the blocks of the others begin.
std::string compare_on(const Communicator& comm, const Group& group, const std::vector<RecordedCall>& calls,
                       const std::vector<std::size_t>& numbers, std::vector<std::vector<std::size_t>>& offsets) {
  constexpr std::size_t at_a_time = 1024;
  std::string problem = difference_on(comm, group, calls, numbers);
  if (!problem.empty()) return problem;
  std::vector<std::size_t> with_blocks;
  std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(with_blocks),
               [&](std::size_t number) { return moves_blocks(calls[number].exchange); });
  for (std::size_t first = 0; first < with_blocks.size(); first += at_a_time) {
    const auto begin = with_blocks.begin() + static_cast<std::ptrdiff_t>(first);
    const auto length = static_cast<std::ptrdiff_t>(std::min(at_a_time, with_blocks.size() - first));
    const std::string found = exchange_offsets(comm, group, calls, {begin, begin + length}, offsets);
    if (problem.empty()) problem = found;
  }
  return problem;
}

}  // namespace

std::string words_of(const Exchange& exchange) {
  if (!exchange.operation) return fmt::format("{} messages", exchange.messages.size());
  const OperationTraits& row = traits_of(*exchange.operation);
  std::string text = fmt::format("{}({}", row.name, datatype_name(exchange.type.kind()));
  if (!row.has_counts()) text += fmt::format(", count {}", exchange.count);
  if (exchange.op) text += fmt::format(", {}", reduce_op_name(*exchange.op));
  if (row.has_root()) text += fmt::format(", root {}", exchange.root);
  return text + ")";
}

void agree(const Communicator& all, const std::string& problem) {
  const std::string first = Team(all).first_text(problem);
  if (!first.empty()) throw std::invalid_argument("replay: " + first);
}

Session::Session(const Communicator& all, const Recording& recording) : all_(all), recording_(recording) {
  const std::vector<Communicator> setups = make_communicators();
  offsets_.resize(recording.calls.size());
  made_offsets_.resize(recording.made.size());
  compare_calls(setups, recording.made, made_offsets_);
  compare_calls(setups, recording.calls, offsets_);
  compare_messages();
}

/// In an order that all ranks know, the groups of which any rank is one.
std::vector<Communicator> Session::make_communicators() {
  std::vector<Communicator> setups;
  json mine = json::array();
  for (const Group& group : recording_.groups)
    if (has(group, all_.rank())) mine.push_back({group.id, group.name, group.world_ranks});
  std::set<Group> groups;
  for (const std::string& text : Team(all_).all_texts(mine.dump(-1, ' ', true, json::error_handler_t::replace)))
    for (const json& one : json::parse(text))
      groups.insert(Group{one[0].get<std::string>(), one[1].get<std::string>(), one[2].get<std::vector<int>>()});
  places_.assign(recording_.groups.size(), none);
  for (const Group& group : groups) {
    for (const int rank : group.world_ranks)
      if (rank < 0 || rank >= all_.size())
        throw std::invalid_argument(fmt::format("replay: communicator '{}' has a rank {} that is not here{}",
                                                group.name, rank,
                                                rank < 0 ? remedy : "; start as many ranks, or pass --shrink"));
    const auto place = std::find(group.world_ranks.begin(), group.world_ranks.end(), all_.rank());
    const bool is_member = place != group.world_ranks.end();
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(all_.mpi_handle(), is_member ? 0 : MPI_UNDEFINED,
                   static_cast<int>(place - group.world_ranks.begin()), &part);
    if (!is_member) continue;
    for (std::size_t i = 0; i < recording_.groups.size(); ++i)
      if (recording_.groups[i] == group) places_[i] = communicators_.size();
    CommunicatorOptions options;
    options.name = "replay setup";
    setups.push_back(Communicator::duplicate(part, options));
    options.name = group.name;
    communicators_.push_back(Communicator::adopt(part, options));
  }
  return setups;
}

void Session::compare_calls(const std::vector<Communicator>& setups, const std::vector<RecordedCall>& calls,
                            Offsets& offsets) {
  // Communicators in the order in which all their ranks made them.
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i] != none) order.emplace_back(places_[i], i);
  std::sort(order.begin(), order.end());
  std::string problem;
  for (const auto& [place, number] : order) {
    const std::string found =
        compare_on(setups[place], recording_.groups[number], calls, collectives_on(calls, number), offsets);
    if (problem.empty()) problem = found;
  }
  agree(all_, problem);
}

/// Of each communicator, source, destination and tag: as many messages and bytes must be sent as received.
void Session::compare_messages() {
  json mine = json::object();
  for (const RecordedCall& call : recording_.calls) {
    const Group& group = recording_.groups[call.group];
    for (const Message& one : call.exchange.messages) {
      const int peer = group.world_ranks[static_cast<std::size_t>(one.peer)];
      const int from = one.is_recv ? peer : all_.rank();
      const int to = one.is_recv ? all_.rank() : peer;
      json& sums =
          mine[fmt::format("from rank {} to rank {} with tag {} on communicator '{}'", from, to, one.tag, group.name)];
      if (sums.is_null()) sums = {0, 0, 0, 0};
      const std::size_t at = one.is_recv ? 2 : 0;
      sums[at] = sums[at].get<std::uint64_t>() + 1;
      sums[at + 1] = sums[at + 1].get<std::uint64_t>() + one.bytes;
    }
  }
  std::map<std::string, std::vector<std::uint64_t>> all;
  for (const std::string& text : Team(all_).all_texts(mine.dump(-1, ' ', true, json::error_handler_t::replace))) {
    const json theirs = json::parse(text);
    for (const auto& [stream, sums] : theirs.items()) {
      auto& row = all.try_emplace(stream, 4, 0).first->second;
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += sums[i].get<std::uint64_t>();
    }
  }
  for (const auto& [stream, row] : all)
    if (row[0] != row[2] || row[1] != row[3])
      throw std::invalid_argument(
          fmt::format("replay: {} messages with {} bytes are sent {}, but {} with {} received{}", row[0], row[1],
                      stream, row[2], row[3], remedy));
}

}  // namespace tutti::commbench::replay
