// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "schedules/text.hpp"
#include "support/proof/fault.hpp"

namespace tutti::schedules {
namespace {

/// One end of a message on the way from one rank to another.
struct Item {
  std::uint64_t way = 0;
  End end;
};

void sort_by_way(std::vector<Item>& items) {
  const auto less = [](const Item& a, const Item& b) { return a.way < b.way; };
  if (!std::is_sorted(items.begin(), items.end(), less)) std::stable_sort(items.begin(), items.end(), less);
}

std::size_t same_way(const std::vector<Item>& items, std::size_t from, std::uint64_t way) {
  std::size_t end = from;
  while (end < items.size() && items[end].way == way) ++end;
  return end - from;
}

}  // namespace

Matching::Matching(const std::vector<Schedule>& schedules, std::span<const int> node_of) : ranks_(schedules.size()) {
  match_messages(schedules);
  match_exchanges(schedules, node_of);
}

void Matching::match_exchanges(const std::vector<Schedule>& schedules, std::span<const int> node_of) {
  std::map<std::pair<int, std::size_t>, std::size_t> numbers;  // by node, and by place among its exchanges
  std::map<int, std::size_t> ranks_on;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    const int node = node_of.empty() ? 0 : node_of[rank];
    ++ranks_on[node];
    const auto& rounds = schedules[rank].rounds;
    ranks_[rank].meetings.resize(rounds.size());
    std::size_t place = 0;
    for (std::uint32_t k = 0; k < rounds.size(); ++k) {
      if (!rounds[k].exchange) continue;
      const auto [found, is_new] = numbers.try_emplace({node, place++}, meetings_.size());
      if (is_new) meetings_.emplace_back();
      ranks_[rank].meetings[k] = found->second;
      meetings_[found->second].push_back({static_cast<std::int32_t>(rank), k, 0});
    }
  }
  for (const auto& [where, number] : numbers) {
    const Meeting& meeting = meetings_[number];
    if (meeting.size() != ranks_on[where.first])
      throw Fault(fmt::format("exchange {} of node {} has {} of its {} ranks", where.second, where.first,
                              meeting.size(), ranks_on[where.first]));
    for (const End& end : meeting) {
      const Exchange& first = *schedules[static_cast<std::size_t>(meeting[0].rank)].rounds[meeting[0].round].exchange;
      const Exchange& own = *schedules[static_cast<std::size_t>(end.rank)].rounds[end.round].exchange;
      if (own.operation != first.operation || own.root != first.root || own.count != first.count)
        throw Fault(
            fmt::format("rank {}: {}, but rank {}: {}", meeting[0].rank, to_text(first), end.rank, to_text(own)));
    }
  }
}

void Matching::match_messages(const std::vector<Schedule>& schedules) {
  const auto size = static_cast<int>(schedules.size());
  std::vector<Item> sent;
  std::vector<Item> received;
  for (int rank = 0; rank < size; ++rank) {
    OfRank& of_rank = ranks_[rank];
    const auto& rounds = schedules[rank].rounds;
    std::size_t transfers = 0;
    for (std::uint32_t k = 0; k < rounds.size(); ++k) {
      of_rank.first.push_back(transfers);
      transfers += rounds[k].transfers.size();
      for (std::uint32_t i = 0; i < rounds[k].transfers.size(); ++i) {
        const Transfer& t = rounds[k].transfers[i];
        if (t.peer < 0 || t.peer >= size || t.peer == rank)
          throw Fault(fmt::format("rank {} round {}: {} has no valid peer", rank, k, to_text(t)));
        const auto way = [size](int from, int to) { return static_cast<std::uint64_t>(from) * size + to; };
        if (sends(t))
          sent.push_back({way(rank, t.peer), {rank, k, i}});
        else
          received.push_back({way(t.peer, rank), {rank, k, i}});
      }
    }
    of_rank.ends.resize(transfers);
  }
  sort_by_way(sent);
  sort_by_way(received);
  const auto count_at = [&schedules](const End& e) {
    return schedules[e.rank].rounds[e.round].transfers[e.index].slice.count;
  };
  const auto other_end = [this](const End& e) -> End& {
    return ranks_[e.rank].ends[ranks_[e.rank].first[e.round] + e.index];
  };
  for (std::size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
    if (i == sent.size() || i == received.size() || sent[i].way != received[i].way) {
      const std::uint64_t way = i == sent.size()       ? received[i].way
                                : i == received.size() ? sent[i].way
                                                       : std::min(sent[i].way, received[i].way);
      throw Fault(fmt::format(
          "from rank {} to rank {} {} messages are sent and {} expected beyond those that match: one is unmatched",
          way / size, way % size, same_way(sent, i, way), same_way(received, i, way)));
    }
    const End& s = sent[i].end;
    const End& r = received[i].end;
    if (count_at(s) != count_at(r))
      throw Fault(
          fmt::format("a message from rank {} (round {}) to rank {} (round {}) has {} elements sent and {} expected",
                      s.rank, s.round, r.rank, r.round, count_at(s), count_at(r)));
    other_end(s) = r;
    other_end(r) = s;
  }
}

}  // namespace tutti::schedules
