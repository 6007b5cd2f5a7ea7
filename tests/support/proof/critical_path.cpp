// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/critical_path.hpp"

#include <algorithm>

#include "support/proof/rendezvous.hpp"

namespace tutti::schedules {
namespace {

Cost operator+(const Cost& a, const Cost& b) {
  return {a.rounds + b.rounds, a.bytes + b.bytes, a.reduced_bytes + b.reduced_bytes, a.copied_bytes + b.copied_bytes,
          a.messages + b.messages};
}

/// Of each figure the larger.
Cost larger(const Cost& a, const Cost& b) {
  return {std::max(a.rounds, b.rounds), std::max(a.bytes, b.bytes), std::max(a.reduced_bytes, b.reduced_bytes),
          std::max(a.copied_bytes, b.copied_bytes), std::max(a.messages, b.messages)};
}

Cost of_locals(const Round& round) {
  Cost cost;
  for (const Local& local : round.locals)
    (local.kind == Local::Kind::copy ? cost.copied_bytes : cost.reduced_bytes) +=
        static_cast<double>(local.output.count * local.inputs.size());
  return cost;
}

/// Elements and messages of a rank's transfers, by direction.
struct Traffic {
  double elements[2] = {0, 0};
  double messages[2] = {0, 0};
  void add(const Round& round) {
    for (const Transfer& transfer : round.transfers) {
      elements[static_cast<int>(transfer.kind)] += static_cast<double>(transfer.slice.count);
      messages[static_cast<int>(transfer.kind)] += 1;
    }
  }
  [[nodiscard]] Cost cost() const {
    return {.bytes = std::max(elements[0], elements[1]), .messages = std::max(messages[0], messages[1])};
  }
};

Cost of_transfers(const Round& round) {
  Traffic traffic;
  traffic.add(round);
  Cost cost = traffic.cost();
  cost.rounds = round.transfers.empty() ? 0 : 1;
  return cost;
}

}  // namespace

Cost critical_path(const std::vector<Schedule>& schedules, const Matching& matching) {
  struct Clock {
    Cost start;     // of the posted round
    Cost transfer;  // what its transfers take
    Cost end;
  };
  std::vector<Clock> clocks(schedules.size());
  Rendezvous(schedules, matching)
      .run(
          {},
          [&](int rank, std::size_t round) {
            Clock& clock = clocks[rank];
            clock.start = clock.end;
            clock.transfer = of_transfers(schedules[rank].rounds[round]);
          },
          [&](const End& send, const End& recv) {
            Clock& s = clocks[send.rank];
            Clock& r = clocks[recv.rank];
            const Cost passed = larger(s.start, r.start) + larger(s.transfer, r.transfer);
            s.end = larger(s.end, passed);
            r.end = larger(r.end, passed);
          },
          [](const Matching::Meeting&) {},
          [&](int rank, std::size_t round) {
            clocks[rank].end = clocks[rank].end + of_locals(schedules[rank].rounds[round]);
          });
  Cost most;
  for (const Clock& clock : clocks) most = larger(most, clock.end);
  return most;
}

Cost busiest_rank(const std::vector<Schedule>& schedules) {
  Cost most;
  for (const Schedule& schedule : schedules) {
    Traffic traffic;
    Cost rest;
    for (const Round& round : schedule.rounds) {
      traffic.add(round);
      rest = rest + of_locals(round);
      rest.rounds += round.transfers.empty() ? 0 : 1;
    }
    most = larger(most, traffic.cost() + rest);
  }
  return most;
}

}  // namespace tutti::schedules
