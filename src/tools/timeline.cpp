// SPDX-License-Identifier: BSD-3-Clause
#include "tools/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::tools {
namespace {

using schedules::Schedule;
using schedules::Transfer;

struct End {
  std::size_t round = 0;
  schedules::Slice slice{};
};

/// The sends, or receives, of each pair (from, to), in the order in which they match.
using Ends = std::map<std::pair<int, int>, std::vector<End>>;

Ends ends_of(std::span<const Schedule> schedules, Transfer::Kind kind) {
  Ends ends;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    for (std::size_t round = 0; round < schedules[rank].rounds.size(); ++round)
      for (const Transfer& transfer : schedules[rank].rounds[round].transfers) {
        if (transfer.kind != kind) continue;
        const int me = static_cast<int>(rank);
        const auto pair = kind == Transfer::Kind::send ? std::pair(me, transfer.peer) : std::pair(transfer.peer, me);
        ends[pair].push_back({round, transfer.slice});
      }
  return ends;
}

/// A message before its time is known.
struct Match {
  int from;
  int to;
  End send;
  End recv;
};

std::vector<Match> match(std::span<const Schedule> schedules) {
  const Ends sends = ends_of(schedules, Transfer::Kind::send);
  const Ends recvs = ends_of(schedules, Transfer::Kind::recv);
  std::vector<Match> matches;
  for (const auto& [pair, list] : sends) {
    const auto found = recvs.find(pair);
    if (found == recvs.end() || found->second.size() != list.size())
      throw Error(ErrorCode::internal, fmt::format("schedule: not every message from rank {} to rank {} has two ends",
                                                   pair.first, pair.second));
    for (std::size_t i = 0; i < list.size(); ++i)
      matches.push_back({pair.first, pair.second, list[i], found->second[i]});
  }
  if (recvs.size() != sends.size()) throw Error(ErrorCode::internal, "schedule: a message is received but never sent");
  return matches;
}

/// When the rounds of each rank begin; the entry after the last is the rank's end.
using Starts = std::vector<std::vector<std::size_t>>;

/// Goes through the ranks until none gets further. What each round receives is looked up once.
Starts starts_of(std::span<const Schedule> schedules, const std::vector<Match>& matches) {
  std::map<std::pair<int, std::size_t>, std::vector<const Match*>> received;
  for (const Match& one : matches) received[{one.to, one.recv.round}].push_back(&one);
  Starts starts(schedules.size(), std::vector<std::size_t>{0});
  for (bool moves = true; moves;) {
    moves = false;
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      auto& mine = starts[rank];
      while (mine.size() <= schedules[rank].rounds.size()) {
        std::size_t end = mine.back() + 1;
        bool is_known = true;
        const auto found = received.find({static_cast<int>(rank), mine.size() - 1});
        if (found != received.end())
          for (const Match* one : found->second) {
            const auto& sender = starts[static_cast<std::size_t>(one->from)];
            is_known = is_known && one->send.round < sender.size();
            if (is_known) end = std::max(end, sender[one->send.round] + 1);
          }
        if (!is_known) break;
        mine.push_back(end);
        moves = true;
      }
    }
  }
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    if (starts[rank].size() <= schedules[rank].rounds.size())
      throw Error(ErrorCode::internal, fmt::format("schedule: rank {} waits forever", rank));
  return starts;
}

}  // namespace

Timeline timeline_of(std::span<const Schedule> schedules) {
  const std::vector<Match> matches = match(schedules);
  const Starts starts = starts_of(schedules, matches);
  Timeline timeline;
  for (const auto& mine : starts) timeline.steps = std::max(timeline.steps, mine.back());
  for (const Match& one : matches) {
    const std::size_t leaves = starts[static_cast<std::size_t>(one.from)][one.send.round];
    const std::size_t waits = starts[static_cast<std::size_t>(one.to)][one.recv.round];
    timeline.messages.push_back({one.from, one.to, one.send.slice, one.recv.slice, leaves, std::max(leaves, waits)});
  }
  for (std::size_t rank = 0; rank < schedules.size(); ++rank)
    for (std::size_t round = 0; round < schedules[rank].rounds.size(); ++round)
      for (const auto& local : schedules[rank].rounds[round].locals)
        timeline.locals.push_back({static_cast<int>(rank), starts[rank][round + 1] - 1, local});
  return timeline;
}

}  // namespace tutti::tools
