// SPDX-License-Identifier: BSD-3-Clause
#include "call/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <tutti/error.hpp>
#include <utility>

#include "call/message_lengths.hpp"
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
  const auto [shorter, longer] = message_lengths;
  const double within = std::clamp<double>(bytes, shorter, longer);
  const double part = std::log2(within / shorter) / std::log2(static_cast<double>(longer) / shorter);
  return std::lerp(costs.message_short_byte, costs.message_byte, part);
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

/// Seconds a byte of operands that a cache holds. Both of floats of 8 and 16 bits are converted before they are
/// combined.
double warm_operand(const Signature& signature, const Costs& costs) {
  return is_small_float(signature.type.kind()) ? 2 * costs.combine_narrow : costs.combine;
}

bool combines_on_host(const Signature& signature) {
  return signature.memory == MemoryClass::host && tutti::combines(signature.operation);
}

/// What the caches have lost of the operands comes as slowly as a copy through memory.
Links links_for(const Signature& signature, const Machine& machine) {
  Links links = moving_links(signature, machine);
  if (!combines_on_host(signature)) return links;
  const double warm = warm_operand(signature, machine.costs);
  const double cold = lost_part(signature, machine.size, machine.costs) * std::max(0.0, machine.costs.far_copy - warm);
  for (Link& link : links.levels) link.combining_rate = 1 / (warm + cold);
  return links;
}

/// The same as one algorithm sees them: one of two operands has just arrived, and what the caches have not lost of it
/// since comes from them.
Links with_arrivals(Links links, const schedules::Algorithm& algorithm, const Signature& signature,
                    const Machine& machine, double start) {
  if (algorithm.hierarchical || !combines_on_host(signature)) return links;
  const schedules::Cost cost = cost_of(algorithm, machine.size, bytes_of_call(signature, machine.size), start);
  if (cost.rounds == 0) return links;
  const double held = (1 - lost_on_arrival(algorithm, cost, 1 / machine.costs.cache_part)) / 2;
  const double warm = warm_operand(signature, machine.costs);
  for (Link& link : links.levels) link.combining_rate = 1 / ((1 - held) / link.combining_rate + held * warm);
  return links;
}

}  // namespace

// Not in line, because GCC 12 then takes the move of a string for one beyond its bounds.
void Candidate::forbid(std::string reason) {
  excluded = std::move(reason);
  nameable = false;
}

bool precedes(const Candidate& a, const Candidate& b) {
  const auto order = [](const Candidate& c) {
    return std::tuple(!c.can_be_chosen(), !c.preferred, !c.measured, c.seconds);
  };
  return order(a) < order(b);
}

Candidates::Candidates(const Signature& signature, const Machine& machine, CandidatesOf others)
    : signature_(signature),
      machine_(machine),
      links_(links_for(signature, machine)),
      wiring_(wiring_of(machine, signature)),
      others_(others),
      node_times_(signature, machine, others) {}

double Candidates::predicted(const schedules::Algorithm& algorithm) {
  if (!algorithm.hierarchical || !exchanges_on_nodes(signature_, machine_.node_memory))
    return predict(algorithm, signature_, wiring_,
                   with_arrivals(links_, algorithm, signature_, machine_, wiring_.spread.starts.through));
  const schedules::LevelCost cost =
      algorithm.level_cost(wiring_.spread, bytes_of_call(signature_, wiring_.spread.size));
  double sum = seconds_across(cost, wiring_, links_);
  for (const schedules::NodeCost& exchange : cost.exchanges)
    sum += cost.chunks * node_times_.seconds(exchange, wiring_.spread.most);
  return sum;
}

void Candidates::measure(Candidate& way) const {
  if (machine_.measured == nullptr || on_device() || !std::isfinite(way.seconds)) return;
  const auto measured = machine_.measured->seconds(signature_, way.name);
  if (!measured) return;
  way.seconds = *measured;
  way.measured = true;
}

void Candidates::add(Candidate candidate) {
  candidate.backend = asked_;
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
  return detail::best_part(others_(part, machine_), part, machine_.size);
}

const Candidate& best_part(const std::vector<Candidate>& all, const Signature& signature, int size) {
  const Candidate* best = nullptr;
  for (const Candidate& c : all)
    if (c.carries_parts && c.can_be_chosen() && (best == nullptr || precedes(c, *best))) best = &c;
  if (best != nullptr) return *best;
  throw Error(ErrorCode::internal,
              fmt::format("{}: no algorithm in host memory for {} ranks", operation_name(signature.operation), size));
}

}  // namespace tutti::detail
