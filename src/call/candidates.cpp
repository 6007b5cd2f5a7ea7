// SPDX-License-Identifier: BSD-3-Clause
#include "call/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tutti/error.hpp>
#include <utility>

#include "call/schedule_rules.hpp"

namespace tutti::detail {
namespace {

template <typename Accept>
const Candidate* fastest_of(const std::vector<Candidate>& all, const Accept& accept) {
  const Candidate* best = nullptr;
  for (const Candidate& c : all)
    if (c.can_be_chosen() && accept(c) && (best == nullptr || c.seconds < best->seconds)) best = &c;
  return best;
}

/// Seconds a byte in messages of blocks of that many bytes: between two lengths that were measured, by their logarithm.
double message_byte_of(double bytes, const Costs& costs) {
  const std::array<double, 3> measured{costs.message_short_byte, costs.message_near_byte, costs.message_byte};
  if (bytes <= message_lengths.front()) return measured.front();
  for (std::size_t i = 1; i < measured.size(); ++i) {
    if (bytes > message_lengths[i]) continue;
    const double part = std::log2(bytes / message_lengths[i - 1]) /
                        std::log2(static_cast<double>(message_lengths[i]) / message_lengths[i - 1]);
    return measured[i - 1] + part * (measured[i] - measured[i - 1]);
  }
  return measured.back();
}

/// Messages on a node copy what its caches have lost, as the kernel's copies do.
Links moving_links(const Signature& signature, const Machine& machine) {
  if (machine.several_nodes || signature.memory != MemoryClass::host) return links_of(machine);
  Machine as_called = machine;
  Costs& costs = as_called.costs;
  const double lost = lost_part(signature, machine.size, costs);
  costs.message_byte = message_byte_of(static_cast<double>(signature.count * signature.type.size()), costs);
  costs.message_byte += cold_seconds(costs.kernel_busy_far_byte, lost, costs);
  return links_of(as_called);
}

/// Both operands of floats of 8 and 16 bits are converted before they are combined.
Links links_for(const Signature& signature, const Machine& machine) {
  Links links = moving_links(signature, machine);
  if (signature.memory == MemoryClass::host && schedules::combines(signature.operation) &&
      is_small_float(signature.type.kind()))
    for (Link& link : links.levels) link.combining_rate *= machine.costs.combine / (2 * machine.costs.combine_narrow);
  return links;
}

}  // namespace

// Not in line, because GCC 12 then takes the move of a string for one beyond its bounds.
void Candidate::forbid(std::string reason) {
  excluded = std::move(reason);
  nameable = false;
}

Candidates::Candidates(const Signature& signature, const Machine& machine, Ask ask)
    : signature_(signature),
      machine_(machine),
      links_(links_for(signature, machine)),
      wiring_(wiring_of(machine)),
      ask_(ask) {}

double Candidates::predicted(const schedules::Algorithm& algorithm) const {
  if (!algorithm.hierarchical || !exchanges_on_nodes(signature_, machine_.node_memory))
    return predict(algorithm, signature_, wiring_, links_);
  const schedules::LevelCost cost =
      algorithm.level_cost(wiring_.spread, bytes_of_call(signature_, wiring_.spread.size));
  double sum = seconds_across(cost, wiring_, links_);
  for (const schedules::NodeCost& exchange : cost.exchanges) sum += cost.chunks * seconds_on_node(exchange);
  return sum;
}

double Candidates::seconds_on_node(const schedules::NodeCost& exchange) const {
  const Machine node = one_node_of(machine_, wiring_.spread.most);
  Signature call;
  call.operation = exchange.operation;
  call.type = signature_.type;
  call.op = signature_.op == ReduceKind::user ? ReduceKind::sum : signature_.op;
  const double blocks = schedules::has_equal_blocks(exchange.operation) ? node.size : 1;
  call.count = static_cast<std::size_t>(exchange.bytes / blocks / static_cast<double>(signature_.type.size()));
  const std::vector<Candidate> ways = ask_(call, node);
  return ways.empty() || !ways.front().can_be_chosen() ? 0 : ways.front().seconds;
}

void Candidates::measure(Candidate& way) const {
  if (machine_.measured == nullptr || on_device() || !std::isfinite(way.seconds)) return;
  const auto measured = machine_.measured->seconds(signature_, way.name);
  if (!measured) return;
  way.seconds = *measured;
  way.measured = true;
}

void Candidates::add(Candidate candidate) {
  if (!candidate.measured) measure(candidate);
  all_.push_back(std::move(candidate));
}

const Candidate* Candidates::fastest() const {
  return fastest_of(all_, [](const Candidate&) { return true; });
}

const Candidate* Candidates::fastest(Carrier carrier) const {
  return fastest_of(all_, [carrier](const Candidate& c) { return c.carrier == carrier; });
}

std::string Candidates::why_behind_others(const Candidate& way) const {
  const Candidate* shared = fastest(Carrier::others);
  if (shared == nullptr) return {};
  if (!way.measured) return "shared memory makes the call, and this candidate was not measured";
  return way.seconds >= shared->seconds ? "shared memory is faster" : "";
}

Candidate Candidates::best_part(const Signature& part) const {
  return first_part(ask_(part, machine_), part, machine_.size);
}

const Candidate& first_part(const std::vector<Candidate>& all, const Signature& signature, int size) {
  const auto found =
      std::ranges::find_if(all, [](const Candidate& c) { return c.backend->carries_parts && c.can_be_chosen(); });
  if (found != all.end()) return *found;
  throw Error(ErrorCode::internal, fmt::format("{}: no algorithm in host memory for {} ranks",
                                               schedules::operation_name(signature.operation), size));
}

}  // namespace tutti::detail
