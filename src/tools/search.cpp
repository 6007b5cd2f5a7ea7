// SPDX-License-Identifier: BSD-3-Clause
#include "tools/search.hpp"

#include <algorithm>
#include <cmath>

#include "backends/list.hpp"
#include "call/context.hpp"
#include "planner/candidates.hpp"
#include "tools/race.hpp"
#include "tools/trial.hpp"

namespace tutti::detail::tuning {
namespace {

// At which calls are measured whose size only some ranks know.
constexpr std::size_t hidden_sizes[] = {std::size_t{1} << 10U, std::size_t{32} << 10U, std::size_t{1} << 20U};
constexpr int most_races = 3;
constexpr std::size_t enough_rounds = 5;  // as many calm rounds show a median, however many there are in all
constexpr double calm = 1.5;              // highest ratio of the median to the fastest round without a disturbance

/// Whether the figures do not show the fastest: other work kept a rank from running in most rounds, or a figure
/// scatters and some of its rounds beat all other medians.
bool is_disturbed(const std::vector<Contender*>& contenders) {
  double lowest = HUGE_VAL;
  for (const Contender* contender : contenders) lowest = std::min(lowest, median(contender->calm_seconds()));
  return std::any_of(contenders.begin(), contenders.end(), [&](const Contender* contender) {
    if (2 * contender->calm_rounds() < contender->seconds.size() && contender->calm_rounds() < enough_rounds)
      return true;
    const std::vector<double> seconds = contender->calm_seconds();
    const double best = *std::min_element(seconds.begin(), seconds.end());
    return best <= lowest && median(seconds) > calm * best;
  });
}

/// The candidates that may be the fastest. An estimate that makes one hopeless is taken twice: it may have been
/// disturbed.
std::vector<Contender*> starters_of(const Communicator& comm, std::vector<Contender>& contenders,
                                    const Effort& effort) {
  const std::vector<Contender*> first = hopeful_of(contenders, effort);
  std::vector<Contender*> hopeless;
  for (Contender& contender : contenders)
    if (std::find(first.begin(), first.end(), &contender) == first.end()) hopeless.push_back(&contender);
  estimate_again(comm, hopeless);
  return hopeful_of(contenders, effort);
}

Measurement measure_one_size(const Communicator& comm, const Target& target, const std::vector<std::string>& names,
                             const Effort& effort) {
  TrialMemory memory(target, comm.size());
  std::vector<Contender> contenders = contenders_for(comm, target, names, memory, effort);
  const std::vector<Contender*> hopeful = starters_of(comm, contenders, effort);
  const int rounds = hopeful.empty() ? 0 : rounds_for(hopeful, effort);
  Measurement measurement{place_of(target), !hopeful.empty()};
  for (int i = 0; i < most_races && measurement.is_disturbed; ++i) {
    race(comm, hopeful, rounds);
    measurement.is_disturbed = is_disturbed(hopeful);
  }
  for (const Contender& contender : contenders)
    measurement.cell.seconds[contender.name] =
        contender.seconds.empty() ? contender.estimate : median(contender.calm_seconds());
  return measurement;
}

}  // namespace

namespace {

/// The candidates that can be measured, the untuned choice first.
std::vector<Candidate> measurable(const Communicator& comm, const Target& target) {
  const Context& state = *comm.state();
  Signature signature = signature_of(target);
  signature.reproducible = state.options.reproducible;
  signature.has_timeout = state.options.timeout.count() > 0;
  Machine machine = state.machine();
  machine.measured = nullptr;
  std::vector<Candidate> found;
  for (Candidate& candidate : candidates(signature, machine)) {
    // The host MPI's own collective is a candidate for nonblocking calls only once it was measured, so measure it.
    const bool can_be_earned =
        candidate.backend == &native_backend && candidate.nameable && target.kind == CallKind::nonblocking;
    if (candidate.excluded.empty() || can_be_earned) found.push_back(std::move(candidate));
  }
  return found;
}

// The rounds that warm a candidate up and estimate it.
constexpr double warm_up_rounds = 8;

double expected_of_one_size(const std::vector<Candidate>& ways, const Effort& effort) {
  double best = HUGE_VAL;
  for (const Candidate& way : ways) best = std::min(best, way.seconds);
  double warm_up = 0;
  double round = 0;
  for (const Candidate& way : ways) {
    if (!std::isfinite(way.seconds)) continue;
    const double batch = std::max(way.seconds, effort.batch_seconds);
    warm_up += warm_up_rounds * batch;
    if (way.seconds <= best * effort.hopeless) round += batch;
  }
  if (round == 0) return warm_up;
  const double least = std::min(3, effort.rounds);
  return warm_up + round * std::clamp(effort.target_seconds / round, least, static_cast<double>(effort.rounds));
}

}  // namespace

std::vector<std::string> candidates_for(const Communicator& comm, const Target& target) {
  std::vector<std::string> names;
  for (const Candidate& candidate : measurable(comm, target)) names.push_back(candidate.name);
  return names;
}

double expected_seconds(const Communicator& comm, const Target& target, const Effort& effort) {
  if (!has_hidden_size(target.operation)) return expected_of_one_size(measurable(comm, target), effort);
  double seconds = 0;
  for (const std::size_t bytes : hidden_sizes) {
    // Their plans do not know the size: an alltoall of it is about as long.
    Target sized = target;
    sized.operation = Operation::alltoall;
    sized.bytes = bytes;
    seconds += expected_of_one_size(measurable(comm, sized), effort);
  }
  return seconds;
}

Measurement measure(const Communicator& comm, const Target& target, const Effort& effort) {
  const std::vector<std::string> names = candidates_for(comm, target);
  if (!has_hidden_size(target.operation)) return measure_one_size(comm, target, names, effort);
  Measurement mean{place_of(target), false};
  for (const std::size_t bytes : hidden_sizes) {
    Target sized = target;
    sized.bytes = bytes;
    const Measurement one = measure_one_size(comm, sized, names, effort);
    mean.is_disturbed = mean.is_disturbed || one.is_disturbed;
    for (const auto& [name, seconds] : one.cell.seconds)
      mean.cell.seconds.try_emplace(name, 1.0).first->second *= std::pow(seconds, 1.0 / std::size(hidden_sizes));
  }
  return mean;
}

}  // namespace tutti::detail::tuning
