// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/connections.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

#include "backends/nccl/launch.hpp"
#include "core/hash.hpp"

namespace tutti::detail::nccl {
namespace {

using schedules::Round;
using schedules::Transfer;

/// NCCL's choices change with the length by factors of two at most.
std::uint64_t kind_of(const Plan& plan, Windows windows) {
  const Signature& s = plan.signature;
  const auto length = std::bit_width(s.count * s.type.size());
  Hash kind;
  kind.add(s.operation).add(s.type.kind()).add(s.op).add(length).add(windows.input).add(windows.output);
  kind.add(plan.protocol);
  return (is_told(plan) ? kind.add(std::string_view(plan.way)) : kind).value();
}

/// NCCL's calls of no elements connect nothing.
bool is_empty(const Plan& plan, const Transfer& transfer) {
  return transfer.slice.count == 0 && plan.signature.operation != Operation::barrier;
}

std::pair<bool, int> end_of(const Transfer& transfer) { return {transfer.kind == Transfer::Kind::send, transfer.peer}; }

}  // namespace

bool Connections::cover(const Plan& plan, const schedules::Schedule* schedule, Windows windows) const {
  if (is_put(plan)) return has_puts_;
  if (schedule == nullptr) return collectives_.contains(kind_of(plan, windows));
  if (has_all_peers_) return true;
  const auto is_known = [&](const Transfer& t) { return is_empty(plan, t) || peers_.contains(end_of(t)); };
  return std::ranges::all_of(schedule->rounds,
                             [&](const Round& round) { return std::ranges::all_of(round.transfers, is_known); });
}

void Connections::add(const Plan& plan, const schedules::Schedule* schedule, Windows windows) {
  if (is_put(plan)) {
    has_puts_ = true;
    return;
  }
  if (schedule == nullptr) {
    collectives_.insert(kind_of(plan, windows));
    return;
  }
  if (has_all_peers_) return;
  for (const Round& round : schedule->rounds)
    for (const Transfer& transfer : round.transfers)
      if (!is_empty(plan, transfer)) peers_.insert(end_of(transfer));
}

}  // namespace tutti::detail::nccl
