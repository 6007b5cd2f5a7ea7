// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

#include "diagnosis/members.hpp"

namespace tutti::detail::flight {
namespace {

std::string peer_text(const Facts& facts) {
  const std::string who = facts.peer == any ? "any rank" : fmt::format("rank {}", facts.peer);
  const std::string tag = facts.tag == -1 ? "" : facts.tag == any ? ", any tag" : fmt::format(", tag {}", facts.tag);
  return fmt::format("{} {}{}", facts.call == Call::send ? "to" : "from", who, tag);
}

/// Whether all ranks of a communicator give as many bytes as they take, or as many as each other.
bool has_equal_bytes(Call call) {
  if (!is_operation(call)) return false;
  const OperationTraits& row = traits_of(static_cast<Operation>(call));
  if (row.given == BlockKind::none || (row.given == BlockKind::counted && row.taken == BlockKind::counted))
    return false;
  return !row.has_root() || row.given == row.taken;
}

bool is_same_call(const Facts& a, const Facts& b) {
  const bool is_same_root = is_neighborhood(a.call) || a.peer == b.peer;
  return a.call == b.call && a.form == b.form && a.type == b.type && a.op == b.op && is_same_root &&
         (!has_equal_bytes(a.call) || a.bytes == b.bytes);
}

/// The collectives of a member of a communicator, by sequence. A start of a persistent call has the number of its init.
std::map<std::uint32_t, const SeenCall*> collectives_of(const Member& member) {
  std::map<std::uint32_t, const SeenCall*> all;
  if (member.snapshot == nullptr) return all;
  for (const SeenCall& call : member.snapshot->calls)
    if (call.facts.sequence != 0 && call.facts.form != Form::start &&
        &member.snapshot->communicator(call) == member.communicator)
      all[call.facts.sequence] = &call;
  return all;
}

struct Difference {
  std::uint32_t sequence = 0;
  const Member* one = nullptr;
  const Member* other = nullptr;
  const SeenCall* call = nullptr;
  const SeenCall* other_call = nullptr;
};

/// The first call in which a member differs from the first one that has it.
Difference first_difference(const Members& members) {
  Difference first;
  std::map<std::uint32_t, std::pair<const Member*, const SeenCall*>> seen;
  for (const Member& member : members)
    for (const auto& [sequence, call] : collectives_of(member)) {
      const auto& [other, other_call] = seen.try_emplace(sequence, &member, call).first->second;
      const bool is_earlier = first.call == nullptr || sequence < first.sequence;
      if (is_earlier && !is_same_call(call->facts, other_call->facts))
        first = {sequence, other, &member, other_call, call};
    }
  return first;
}

std::string place_text(const SeenCall& call) { return call.site.empty() ? "" : " " + call.site; }

}  // namespace

std::string_view finding_name(FindingKind kind) {
  constexpr std::array<std::string_view, 5> names = {"death", "divergence", "deadlock", "wait", "late"};
  return names[static_cast<std::size_t>(kind)];
}

std::string communicator_text(std::string_view name, std::uint64_t mark) {
  if (!name.empty()) return fmt::format("communicator '{}'", name);
  return mark == 0 ? "a freed communicator" : fmt::format("communicator {:08x}", mark & 0xffffffffU);
}

std::string call_text(const Snapshot& snapshot, const SeenCall& call) {
  const Facts& facts = call.facts;
  if (facts.call == Call::make_communicator && facts.sequence == 0) return "a factory of communicators";
  const SeenCommunicator& communicator = snapshot.communicator(call);
  std::string text = fmt::format("{}{}", facts.form == Form::nonblocking ? "i" : "", call_name(facts.call));
  if (facts.form == Form::init) text += "_init";
  if (facts.form == Form::start) text = "a start of " + text + "_init";
  if (!is_collective(facts.call) && facts.call != Call::group)
    return fmt::format("{} {} ({} B, {}){}", text, peer_text(facts), facts.bytes,
                       communicator_text(communicator.name, communicator.mark), place_text(call));
  if (facts.sequence != 0) text += fmt::format(" #{}", facts.sequence);
  std::string details;
  if (facts.type != 0) details += fmt::format("{}, ", datatype_name(static_cast<DatatypeKind>(facts.type)));
  if (!is_synchronization(facts.call)) details += fmt::format("{} B, ", facts.bytes);
  if (facts.op != 0) details += fmt::format("{}, ", reduce_op_name(static_cast<ReduceKind>(facts.op)));
  if (facts.peer >= 0) details += fmt::format("root {}, ", facts.peer);
  text += fmt::format(" of {}", communicator_text(communicator.name, communicator.mark));
  if (!details.empty()) text += fmt::format(" ({})", details.substr(0, details.size() - 2));
  return text + place_text(call);
}

std::vector<Finding> find_deaths(const Job& job) {
  std::vector<Finding> found;
  for (const Snapshot& snapshot : job) {
    if (snapshot.is_alive || snapshot.ended) continue;
    const SeenCall* last = snapshot.current();
    if (last == nullptr && !snapshot.calls.empty()) last = &snapshot.calls.back();
    found.push_back({FindingKind::death,
                     fmt::format("rank {} (process {} of {}) has ended without MPI_Finalize; its last call is {}{}",
                                 snapshot.world_rank, snapshot.process, snapshot.host,
                                 last == nullptr ? "unknown" : call_text(snapshot, *last),
                                 last == nullptr ? "" : fmt::format(", {}", state_name(last->state))),
                     {snapshot.world_rank}});
  }
  return found;
}

std::vector<Finding> find_divergences(const Job& job) {
  std::vector<Finding> found;
  for (const auto& [mark, members] : members_of(job)) {
    const Difference first = first_difference(members);
    if (first.call == nullptr) continue;
    const Snapshot& one = *first.one->snapshot;
    const Snapshot& other = *first.other->snapshot;
    found.push_back({FindingKind::divergence,
                     fmt::format("ranks {} and {} make different calls: rank {} makes {}, rank {} makes {}",
                                 one.world_rank, other.world_rank, one.world_rank, call_text(one, *first.call),
                                 other.world_rank, call_text(other, *first.other_call)),
                     {one.world_rank, other.world_rank}});
  }
  return found;
}

std::vector<Finding> find_late(const Job& job) {
  constexpr std::size_t least_calls = 16;
  std::vector<Finding> found;
  for (const auto& [mark, members] : members_of(job)) {
    if (members.size() < 2) continue;
    std::map<std::uint32_t, std::vector<std::int64_t>> begins;  // of the calls that all have made, by rank
    for (const Member& member : members)
      for (const auto& [sequence, call] : collectives_of(member)) begins[sequence].push_back(call->begin);
    std::erase_if(begins, [ranks = members.size()](const auto& one) { return one.second.size() != ranks; });
    std::vector<std::size_t> last(members.size());
    std::vector<double> lateness(members.size());  // milliseconds
    for (const auto& [sequence, times] : begins) {
      const auto latest = std::max_element(times.begin(), times.end());
      const auto rank = static_cast<std::size_t>(latest - times.begin());
      ++last[rank];
      lateness[rank] += 1e-6 * static_cast<double>(*latest - *std::min_element(times.begin(), times.end()));
    }
    const auto worst = static_cast<std::size_t>(std::max_element(lateness.begin(), lateness.end()) - lateness.begin());
    if (begins.size() < least_calls || 4 * last[worst] < 3 * begins.size()) continue;
    const int rank = members[worst].snapshot->world_rank;
    const SeenCommunicator& last_of = *members[worst].communicator;
    found.push_back({FindingKind::late,
                     fmt::format("rank {} comes last to {} of the last {} collectives of {}, {:.3g} ms after the first "
                                 "one on average",
                                 rank, last[worst], begins.size(), communicator_text(last_of.name, last_of.mark),
                                 lateness[worst] / static_cast<double>(last[worst])),
                     {rank}});
  }
  return found;
}

std::vector<Finding> find_all(const Job& job, double least_wait) {
  std::vector<Finding> all = find_deaths(job);
  for (auto&& some : {find_divergences(job), find_waits(job, least_wait), find_late(job)})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace tutti::detail::flight
