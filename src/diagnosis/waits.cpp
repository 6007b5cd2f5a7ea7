// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "diagnosis/findings.hpp"
#include "diagnosis/members.hpp"

namespace tutti::detail::flight {
namespace {

/// A rank that cannot go on, and the ranks all of which it waits for.
struct Wait {
  const Snapshot* who = nullptr;
  const SeenCall* call = nullptr;
  double seconds = 0;
  std::vector<const Snapshot*> awaited{};
  std::vector<int> unknown{};  ///< ranks of the communicator without a recorder at hand
};

/// Whether a rank has made another call in the place of the one for which others wait.
bool makes_another(const Member& member, const SeenCall& awaited) {
  const std::vector<SeenCall>& calls = member.snapshot->calls;
  return std::any_of(calls.begin(), calls.end(), [&](const SeenCall& call) {
    return call.facts.sequence == awaited.facts.sequence && call.facts.call != awaited.facts.call &&
           call.facts.form != Form::start && &member.snapshot->communicator(call) == member.communicator;
  });
}

/// A rank takes part in a collective from its call on.
void await_members(Wait& wait, const Members& members) {
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const Member& member = members[rank];
    if (member.snapshot == nullptr)
      wait.unknown.push_back(static_cast<int>(rank));
    else if (member.communicator->sequence < wait.call->facts.sequence || makes_another(member, *wait.call))
      wait.awaited.push_back(member.snapshot);
  }
}

void await_peer(Wait& wait, const Members& members) {
  const int peer = wait.call->facts.peer;
  if (peer < 0 || static_cast<std::size_t>(peer) >= members.size()) return;
  const Member& member = members[static_cast<std::size_t>(peer)];
  if (member.snapshot == nullptr)
    wait.unknown.push_back(peer);
  else
    wait.awaited.push_back(member.snapshot);
}

std::vector<Wait> waits_of(const Job& job, double least) {
  const auto communicators = members_of(job);
  std::vector<Wait> waits;
  for (const Snapshot& snapshot : job) {
    const SeenCall* call = snapshot.current();
    if (call == nullptr || !snapshot.is_alive || snapshot.seconds(*call) < least) continue;
    Wait wait{&snapshot, call, snapshot.seconds(*call)};
    const auto members = communicators.find(snapshot.communicator(*call).mark);
    if (members != communicators.end()) {
      if (call->facts.sequence != 0)
        await_members(wait, members->second);
      else
        await_peer(wait, members->second);
    }
    waits.push_back(std::move(wait));
  }
  std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.seconds > b.seconds; });
  return waits;
}

std::string place_of(const Snapshot& snapshot) {
  if (!snapshot.is_alive) return snapshot.ended ? "has left MPI" : "has died";
  if (snapshot.ended) return "has left MPI";
  if (const SeenCall* call = snapshot.current()) return "is in " + call_text(snapshot, *call);
  if (snapshot.calls.empty()) return "has made no call yet";
  return "is in no recorded call since " + call_text(snapshot, snapshot.calls.back());
}

/// Why a rank waits for none in particular.
const char* reason_of(const SeenCall& call) {
  if (call.facts.call == Call::make_communicator && call.facts.sequence == 0)
    return "; it waits for the other ranks of the new communicator";
  return call.facts.peer == any ? "; it waits for a message" : "; all ranks are in it";
}

std::string text_of(const Wait& wait) {
  constexpr std::size_t most_named = 4;
  std::string text = fmt::format("rank {} has been in {} for {:.3g} s", wait.who->world_rank,
                                 call_text(*wait.who, *wait.call), wait.seconds);
  std::size_t named = 0;
  for (const Snapshot* other : wait.awaited) {
    if (named == most_named) break;
    text += fmt::format("{} rank {}, which {}", named == 0 ? "; it waits for" : " and for", other->world_rank,
                        place_of(*other));
    ++named;
  }
  if (wait.awaited.size() > named) text += fmt::format(" and for {} more", wait.awaited.size() - named);
  if (wait.awaited.empty() && wait.unknown.empty()) text += reason_of(*wait.call);
  if (!wait.unknown.empty())
    text += fmt::format("; nothing is known of rank{} {} of the communicator", wait.unknown.size() == 1 ? "" : "s",
                        fmt::join(wait.unknown, ", "));
  return text;
}

using Graph = std::map<const Snapshot*, const Wait*>;

/// The ranks of a circle of waits that begins and ends at one rank; empty if there is none.
std::vector<const Snapshot*> circle_from(const Graph& graph, const Snapshot* first) {
  std::vector<const Snapshot*> way{first};
  std::map<const Snapshot*, bool> visited;
  const auto visit = [&](const auto& self, const Snapshot* at) -> bool {
    const auto wait = graph.find(at);
    if (wait == graph.end()) return false;
    for (const Snapshot* next : wait->second->awaited) {
      if (next == first) return true;
      if (visited[next]) continue;
      visited[next] = true;
      way.push_back(next);
      if (self(self, next)) return true;
      way.pop_back();
    }
    return false;
  };
  if (!visit(visit, first)) way.clear();
  return way;
}

std::string text_of(const Graph& graph, const std::vector<const Snapshot*>& circle) {
  std::string text = "deadlock";
  for (std::size_t i = 0; i < circle.size(); ++i)
    text += fmt::format("{} rank {} waits for rank {} in {}", i == 0 ? ":" : ",", circle[i]->world_rank,
                        circle[(i + 1) % circle.size()]->world_rank, call_text(*circle[i], *graph.at(circle[i])->call));
  return text;
}

std::vector<Finding> deadlocks_of(const std::vector<Wait>& waits) {
  Graph graph;
  for (const Wait& wait : waits) graph[wait.who] = &wait;
  std::vector<Finding> found;
  std::map<const Snapshot*, bool> told;
  for (const Wait& wait : waits) {
    if (told[wait.who]) continue;
    const auto circle = circle_from(graph, wait.who);
    if (circle.empty()) continue;
    Finding finding{FindingKind::deadlock, text_of(graph, circle), {}};
    for (const Snapshot* one : circle) {
      told[one] = true;
      finding.ranks.push_back(one->world_rank);
    }
    found.push_back(std::move(finding));
  }
  return found;
}

bool is_named(const std::vector<Finding>& findings, int rank) {
  return std::any_of(findings.begin(), findings.end(), [rank](const Finding& finding) {
    return std::find(finding.ranks.begin(), finding.ranks.end(), rank) != finding.ranks.end();
  });
}

}  // namespace

std::vector<Finding> find_waits(const Job& job, double least) {
  const std::vector<Wait> waits = waits_of(job, least);
  std::vector<Finding> found = deadlocks_of(waits);
  const std::vector<Finding> deadlocks = found;
  for (const Wait& wait : waits)
    if (!is_named(deadlocks, wait.who->world_rank))
      found.push_back({FindingKind::wait, text_of(wait), {wait.who->world_rank}});
  return found;
}

}  // namespace tutti::detail::flight
