// SPDX-License-Identifier: BSD-3-Clause
#include "call/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::detail {
namespace {

template <typename Accept>
const Candidate* fastest_of(const std::vector<Candidate>& all, const Accept& accept) {
  const Candidate* best = nullptr;
  for (const Candidate& c : all)
    if (c.can_be_chosen() && accept(c) && (best == nullptr || c.seconds < best->seconds)) best = &c;
  return best;
}

}  // namespace

// Not in line, because GCC 12 then takes the move of a string for one beyond its bounds.
void Candidate::forbid(std::string reason) {
  excluded = std::move(reason);
  nameable = false;
}

Candidates::Candidates(const Signature& signature, const Machine& machine, Ask ask)
    : signature_(signature), machine_(machine), wiring_(wiring_of(machine)), ask_(ask) {}

double Candidates::predicted(const schedules::Algorithm& algorithm) const {
  return predict(algorithm, signature_, wiring_, links_of(machine_.costs));
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
