// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "diagnosis/trace/merge.hpp"

namespace tutti::detail::trace {
namespace {

using flight::Form;

/// A rank's call of a collective. round: of a persistent call that was started several times.
struct Arrival {
  std::uint64_t mark = 0;
  std::uint32_t sequence = 0;
  std::uint32_t round = 0;
  int size = 0;
  Link link{};
  [[nodiscard]] auto key() const { return std::tuple(mark, sequence, round); }
};

TracedCall& at(std::vector<Part>& parts, const Link& link) {
  return parts[static_cast<std::size_t>(link.part)].calls[link.call];
}

bool is_meeting(const TracedCall& call) {
  return call.facts.sequence != 0 && call.facts.form != Form::init && flight::is_collective(call.facts.call) &&
         !flight::is_neighborhood(call.facts.call);
}

void add_arrivals(std::vector<Arrival>& all, const Part& part, int number) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> starts;
  for (std::size_t i = 0; i < part.calls.size(); ++i) {
    const TracedCall& call = part.calls[i];
    const Communicator& communicator = part.communicator(call);
    if (!is_meeting(call) || communicator.mark == 0) continue;
    const bool is_start = call.facts.form == Form::start;
    const std::uint32_t round = is_start ? ++starts[{communicator.mark, call.facts.sequence}] : 0;
    all.push_back({communicator.mark, call.facts.sequence, round, communicator.size, {number, i}});
  }
}

/// Notes a wait for the call of another rank, if that began while the first was held.
void note_wait(std::vector<Part>& parts, const Link& link, const Link& late) {
  TracedCall& call = at(parts, link);
  const Part& part = parts[static_cast<std::size_t>(link.part)];
  const std::int64_t from = part.held_from(call);
  const std::int64_t begin = at(parts, late).begin;
  if (from == 0 || begin <= from || begin > part.held_until(call)) return;
  call.waited = begin - from;
  call.cause = late;
}

/// The arrivals are sorted here, because a communicator may have many ranks.
void find_last(std::vector<Part>& parts, std::span<Arrival> meeting) {
  const auto begin_of = [&parts](const Arrival& one) { return at(parts, one.link).begin; };
  std::sort(meeting.begin(), meeting.end(),
            [&](const Arrival& a, const Arrival& b) { return begin_of(a) < begin_of(b); });
  for (const Arrival& one : meeting) {
    const std::int64_t until = parts[static_cast<std::size_t>(one.link.part)].held_until(at(parts, one.link));
    auto last = std::upper_bound(meeting.begin(), meeting.end(), until,
                                 [&](std::int64_t time, const Arrival& other) { return time < begin_of(other); });
    if (last != meeting.begin() && &*std::prev(last) == &one) --last;
    if (last != meeting.begin()) note_wait(parts, one.link, std::prev(last)->link);
  }
}

void find_in_collectives(std::vector<Part>& parts) {
  std::vector<Arrival> all;
  for (std::size_t i = 0; i < parts.size(); ++i) add_arrivals(all, parts[i], static_cast<int>(i));
  std::sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) { return a.key() < b.key(); });
  for (std::size_t first = 0, next = 0; first < all.size(); first = next) {
    for (next = first; next < all.size() && all[next].key() == all[first].key();) ++next;
    if (next - first == static_cast<std::size_t>(all[first].size))
      find_last(parts, std::span(all).subspan(first, next - first));
  }
}

/// The calls of a thread for whose requests it waits.
using Waiting = std::map<std::uint32_t, std::vector<TracedCall*>>;

/// A thread waits for one call at a time: first for that which ends first.
void separate_waits(Part& part) {
  Waiting waiting;
  for (TracedCall& call : part.calls)
    if (call.wait != 0) waiting[call.thread].push_back(&call);
  for (auto& [thread, calls] : waiting) {
    std::stable_sort(calls.begin(), calls.end(), [&part](const TracedCall* a, const TracedCall* b) {
      return part.held_until(*a) < part.held_until(*b);
    });
    std::int64_t free = 0;
    for (TracedCall* call : calls) {
      call->wait = std::max(call->wait, free);
      free = part.held_until(*call);
    }
  }
}

}  // namespace

void find_waits(std::vector<Part>& parts) {
  for (Part& part : parts) separate_waits(part);
  find_in_collectives(parts);
  for (const Message& message : match_messages(parts)) {
    at(parts, message.recv).message = message.send;
    note_wait(parts, message.recv, message.send);
    note_wait(parts, message.send, message.recv);
  }
}

}  // namespace tutti::detail::trace
