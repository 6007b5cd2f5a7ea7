// SPDX-License-Identifier: BSD-3-Clause
#include "call/neighborhood.hpp"

#include <unordered_map>

namespace tutti::detail {
namespace {

using schedules::Blocks;
using schedules::Transfer;

Blocks one_element_each(std::size_t blocks) { return schedules::uniform_blocks(1, static_cast<int>(blocks)); }

/// One element is one block: element i of the input goes to destination i.
schedules::Schedule exchange_of(const schedules::Neighborhood& edges, int rank, const Blocks& from) {
  return schedules::neighbor_exchange(edges, rank, from, one_element_each(edges.sources.size()));
}

/// The blocks of all transfers of a kind, by their peers in the order of first messages.
std::vector<EdgeRoute> by_peers(const schedules::Schedule& schedule, Transfer::Kind kind) {
  std::vector<EdgeRoute> routes;
  std::unordered_map<int, std::size_t> index;
  for (const schedules::Round& round : schedule.rounds)
    for (const Transfer& t : round.transfers) {
      if (t.kind != kind) continue;
      const auto [found, is_new] = index.try_emplace(t.peer, routes.size());
      if (is_new) routes.push_back({t.peer, {}});
      routes[found->second].blocks.push_back(t.slice.offset);
    }
  return routes;
}

}  // namespace

EdgeRoutes::EdgeRoutes(const schedules::Schedule& schedule)
    : given(by_peers(schedule, Transfer::Kind::send)), taken(by_peers(schedule, Transfer::Kind::recv)) {
  for (const schedules::Round& round : schedule.rounds)
    for (const schedules::Local& local : round.locals)
      kept.push_back({local.inputs.front().offset, local.output.offset});
}

Neighbors::Neighbors(const schedules::Neighborhood& of_rank, int rank)
    : edges(of_rank),
      own_blocks(exchange_of(edges, rank, one_element_each(edges.destinations.size()))),
      one_block(exchange_of(edges, rank, Blocks(edges.destinations.size(), {0, 1}))) {}

}  // namespace tutti::detail
