// SPDX-License-Identifier: BSD-3-Clause
#include "planner/planner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "call/plan.hpp"
#include "diagnosis/recorder.hpp"
#include "planner/candidates.hpp"

namespace tutti::detail {
namespace {

/// The candidates of one call, and the choice among them.
class Choice {
 public:
  Choice(const Signature& signature, const Machine& machine)
      : signature_(signature), machine_(machine), all_(candidates(signature, machine)) {}

  [[nodiscard]] const Candidate& made() const {
    if (signature_.algorithm.empty()) return first();
    const Candidate& named = is_backend() ? of_backend() : of_name();
    // One rank has nothing to exchange, so every name means the local copy. MPICH 4.0.2 even misplaces the block of an
    // allgatherv.
    const bool is_exchange = named.algorithm == nullptr && !named.can_be_chosen();
    return machine_.size == 1 && is_exchange ? first() : named;
  }

 private:
  [[nodiscard]] bool is_backend() const {
    return std::ranges::any_of(all_, [this](const Candidate& c) { return c.backend->name == signature_.algorithm; });
  }
  [[nodiscard]] const Candidate& first() const;
  [[nodiscard]] const Candidate& of_backend() const;
  [[nodiscard]] const Candidate& of_name() const;
  [[noreturn]] void throw_unsuitable(std::string_view why) const;
  [[nodiscard]] std::vector<std::string_view> valid_names() const;

  const Signature& signature_;
  const Machine& machine_;
  std::vector<Candidate> all_;
};

const Candidate& Choice::first() const {
  if (!all_.empty() && all_.front().can_be_chosen()) return all_.front();
  throw Error(ErrorCode::internal,
              fmt::format("{}: no algorithm for {} ranks", operation_name(signature_.operation), machine_.size));
}

/// The first candidate of a backend: the fastest that can be chosen, else one that can be named.
const Candidate& Choice::of_backend() const {
  const Candidate* found = nullptr;
  for (const Candidate& c : all_) {
    if (c.backend->name != signature_.algorithm) continue;
    if (c.nameable) return c;
    if (found == nullptr) found = &c;
  }
  throw_unsuitable(found->excluded);
}

const Candidate& Choice::of_name() const {
  const std::string_view name = signature_.algorithm;
  const auto is_named = [name](const Candidate& c) {
    return c.name == name || (c.algorithm != nullptr && c.algorithm->name == name);
  };
  const auto found = std::ranges::find_if(all_, is_named);
  if (found == all_.end()) throw_unsuitable("this operation has no algorithm of that name");
  if (!found->nameable) throw_unsuitable(found->excluded);
  return *found;
}

/// The names of backends and candidates that the call may ask for.
std::vector<std::string_view> Choice::valid_names() const {
  std::vector<std::string_view> names;
  for (const Candidate& c : all_) {
    if (!c.nameable) continue;
    if (std::ranges::find(names, c.backend->name) == names.end()) names.push_back(c.backend->name);
    if (c.name != c.backend->name) names.push_back(c.algorithm != nullptr ? c.algorithm->name : c.name);
  }
  return names;
}

void Choice::throw_unsuitable(std::string_view why) const {
  throw Error(ErrorCode::invalid_algorithm,
              fmt::format("{}: algorithm '{}' cannot be used: {}; choose one of {} (rank {} of {})",
                          operation_name(signature_.operation), signature_.algorithm, why,
                          fmt::join(valid_names(), ", "), machine_.rank, machine_.size));
}

std::shared_ptr<const Plan> plan_by(const Candidate& chosen, const Signature& signature, const Machine& machine);

/// The plan of a persistent call if the backend has no turn left.
std::shared_ptr<const Plan> spare_plan(const Plan& plan, const Machine& machine) {
  if (plan.signature.kind != CallKind::persistent || plan.overflow.empty()) return nullptr;
  Signature signature = plan.signature;
  signature.algorithm = plan.overflow;
  return make_plan(signature, machine);
}

void plan_parts(Plan& plan, const Machine& machine) {
  const Signature& piece = *plan.piece;
  const std::vector<Candidate> ways = candidates(piece, machine);
  plan.part = plan_by(best_part(ways, piece, machine.size), piece, machine);
  const std::size_t last = plan.signature.count - (plan.pieces - 1) * piece.count;
  plan.last_part = plan.pieces > 1 && last != piece.count ? with_count(*plan.part, last, machine) : plan.part;
}

std::shared_ptr<const Plan> plan_by(const Candidate& chosen, const Signature& signature, const Machine& machine) {
  auto plan = std::make_shared<Plan>();
  plan->signature = signature;
  plan->backend = chosen.backend;
  plan->make = chosen.backend->make;
  plan->protocol = chosen.protocol;
  plan->digest = digest_of(signature, chosen.protocol);
  plan->algorithm = chosen.algorithm;
  if (plan->algorithm != nullptr) {
    const Links links = links_of(machine);
    plan->starts = starts_of(links, machine, signature);
    plan->joined_bytes = joined_bytes(links);
  }
  plan->way = chosen.name;
  if (flight::Recorder* recorder = flight::Recorder::instance(); recorder != nullptr)
    plan->way_text = recorder->text(plan->way);
  plan->goes_on_alone = chosen.carrier != Carrier::ranks;
  plan->expected = chosen.seconds;
  if (chosen.backend->complete != nullptr) chosen.backend->complete(*plan, machine);
  if (plan->piece) plan_parts(*plan, machine);
  plan->spare = spare_plan(*plan, machine);
  return plan;
}

bool may_change(const Signature& signature, const Machine& machine) {
  return signature.kind == CallKind::blocking && signature.memory == MemoryClass::host && !signature.reproducible &&
         signature.algorithm.empty() && machine.size > 1;
}

/// Returns true if a way is worth trying against the predicted one.
bool is_rival(const Candidate& way, const Candidate& first, const Signature& signature) {
  constexpr double hopeless = 3;
  const bool same_results = !combines(signature.operation) || (way.keeps_order && first.keeps_order);
  return way.can_be_chosen() && !way.measured && !way.preferred && same_results &&
         way.seconds <= hopeless * first.seconds;
}

}  // namespace

std::vector<std::shared_ptr<const Plan>> ways_to_try(const Signature& signature, const Machine& machine) {
  if (!may_change(signature, machine)) return {};
  const std::vector<Candidate> all = candidates(signature, machine);
  if (all.empty() || !all.front().can_be_chosen() || all.front().measured || all.front().preferred) return {};
  std::vector<std::shared_ptr<const Plan>> ways;
  std::vector<const Backend*> others;  // one way of each other backend
  const bool gives_at_once = all.front().gives_at_once && !synchronises(signature);
  for (const Candidate& way : all) {
    if (!is_rival(way, all.front(), signature)) continue;
    if (gives_at_once && !way.gives_at_once) continue;
    const bool is_other = way.backend != all.front().backend;
    if (is_other && std::ranges::find(others, way.backend) != others.end()) continue;
    if (is_other) others.push_back(way.backend);
    ways.push_back(plan_by(way, signature, machine));
  }
  return ways.size() > 1 ? ways : std::vector<std::shared_ptr<const Plan>>{};
}

std::shared_ptr<const Plan> with_count(const Plan& plan, std::size_t count, const Machine& machine) {
  auto other = std::make_shared<Plan>(plan);
  other->signature.count = count;
  other->digest = digest_of(other->signature, other->protocol);
  if (other->backend->complete != nullptr) other->backend->complete(*other, machine);
  if (plan.spare) other->spare = with_count(*plan.spare, count, machine);
  return other;
}

std::shared_ptr<const Plan> make_plan(const Signature& signature, const Machine& machine) {
  const Choice choice(signature, machine);
  return plan_by(choice.made(), signature, machine);
}

}  // namespace tutti::detail
