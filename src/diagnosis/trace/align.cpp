// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/process_watch.hpp"
#include "diagnosis/clock.hpp"

namespace tutti::detail::trace {
namespace {

using flight::Clock;
using flight::Moment;

/// A moment of a machine, and how much its clock was behind that of rank 0 then. Nanoseconds.
struct Lag {
  std::int64_t at = 0;
  std::int64_t lag = 0;
  std::int64_t doubt = 0;
};

struct Machine {
  std::string host{};
  Moment first{};
  Moment last{};
  std::vector<Offset> offsets{};
  std::vector<Lag> lags{};
};

/// A process that was killed has not written how long its ticks are.
bool lacks_end(const Part& part) { return part.header.ended == 0 && part.header.machine == own_identity(0).machine; }

using Machines = std::map<std::uint64_t, Machine>;

Machines machines_of(const std::vector<Part>& parts) {
  Machines all;
  for (const Part& part : parts) {
    Machine& machine = all[part.header.machine];
    const bool is_new = machine.host.empty();
    machine.host = part.host;
    if (is_new || part.header.opened.ticks < machine.first.ticks) machine.first = part.header.opened;
    if (is_new || part.header.seen.ticks > machine.last.ticks) machine.last = part.header.seen;
    if (lacks_end(part)) machine.last = Moment::now();
    machine.offsets.insert(machine.offsets.end(), part.offsets.begin(), part.offsets.end());
  }
  return all;
}

void find_lags(Machine& machine, const Clock& clock, const Clock& of_first) {
  for (const Offset& offset : machine.offsets) {
    const std::int64_t own = clock.time(offset.own);
    const std::int64_t trip = clock.time(offset.own + offset.round_trip) - own;
    machine.lags.push_back({own, of_first.time(offset.other) - own, trip / 2});
  }
  std::sort(machine.lags.begin(), machine.lags.end(), [](const Lag& a, const Lag& b) { return a.at < b.at; });
}

std::int64_t lag_at(const std::vector<Lag>& lags, std::int64_t time) {
  if (lags.empty()) return 0;
  const Lag& first = lags.front();
  const Lag& last = lags.back();
  if (time <= first.at || first.at == last.at) return first.lag;
  if (time >= last.at) return last.lag;
  const double share = static_cast<double>(time - first.at) / static_cast<double>(last.at - first.at);
  return first.lag + static_cast<std::int64_t>(share * static_cast<double>(last.lag - first.lag));
}

void turn(Part& part, const Clock& clock, const std::vector<Lag>& lags) {
  const auto to_time = [&](std::int64_t& ticks) {
    if (ticks == 0) return;
    const std::int64_t time = clock.time(static_cast<std::uint64_t>(ticks));
    ticks = time + lag_at(lags, time);
  };
  to_time(part.seen);
  for (TracedCall& call : part.calls)
    for (std::int64_t* time : {&call.begin, &call.wait, &call.end}) to_time(*time);
  for (TracedRange& range : part.ranges)
    for (std::int64_t* time : {&range.begin, &range.end}) to_time(*time);
}

/// Counts from the first call on; 0 still means no time.
void shift(std::vector<Part>& parts) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Part& part : parts) {
    for (const TracedCall& call : part.calls) first = std::min(first, call.begin);
    for (const TracedRange& range : part.ranges) first = std::min(first, range.begin);
  }
  const auto move = [first](std::int64_t& time) {
    if (time != 0) time += 1 - first;
  };
  for (Part& part : parts) {
    move(part.seen);
    for (TracedCall& call : part.calls)
      for (std::int64_t* time : {&call.begin, &call.wait, &call.end}) move(*time);
    for (TracedRange& range : part.ranges)
      for (std::int64_t* time : {&range.begin, &range.end}) move(*time);
  }
}

std::string words(const Machines& machines, std::uint64_t first) {
  if (machines.size() == 1) return "one machine, one clock";
  std::string text;
  for (const auto& [number, machine] : machines) {
    if (number == first) continue;
    if (!text.empty()) text += "; ";
    if (machine.lags.empty()) {
      text += fmt::format("{}: its own clock, no offset was measured", machine.host);
      continue;
    }
    text += fmt::format("{}: moved by", machine.host);
    for (const Lag& lag : machine.lags) text += fmt::format(" {:.3f}", 1e-3 * static_cast<double>(lag.lag));
    const auto doubt = std::max_element(machine.lags.begin(), machine.lags.end(),
                                        [](const Lag& a, const Lag& b) { return a.doubt < b.doubt; });
    text += fmt::format(" us, measured to {:.3f} us", 1e-3 * static_cast<double>(doubt->doubt));
  }
  return text;
}

}  // namespace

std::string align(std::vector<Part>& parts) {
  if (parts.empty()) return {};
  Machines machines = machines_of(parts);
  const std::uint64_t first = parts.front().header.machine;
  const Clock of_first(machines[first].first, machines[first].last);
  for (auto& [number, machine] : machines) {
    const Clock clock(machine.first, machine.last);
    if (number != first) find_lags(machine, clock, of_first);
    for (Part& part : parts)
      if (part.header.machine == number) turn(part, clock, machine.lags);
  }
  shift(parts);
  return words(machines, first);
}

}  // namespace tutti::detail::trace
