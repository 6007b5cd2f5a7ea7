// SPDX-License-Identifier: BSD-3-Clause
#include "tools/search.hpp"

#include <algorithm>
#include <cmath>

#include "backends/names.hpp"
#include "call/context.hpp"
#include "planner/candidates.hpp"
#include "tools/race.hpp"
#include "tools/trial.hpp"

namespace tutti::detail::tuning {
namespace {

constexpr int most_races = 3;
constexpr double calm = 1.5;  // highest ratio of the median to the fastest round without a disturbance

/// Whether the figures do not show the fastest: one of them scatters, and some of its rounds beat all other medians.
bool is_disturbed(const std::vector<Contender*>& contenders) {
  double lowest = HUGE_VAL;
  for (const Contender* contender : contenders) lowest = std::min(lowest, median(contender->seconds));
  return std::any_of(contenders.begin(), contenders.end(), [&](const Contender* contender) {
    const double best = *std::min_element(contender->seconds.begin(), contender->seconds.end());
    return best <= lowest && median(contender->seconds) > calm * best;
  });
}

Measurement measure_one_size(const Communicator& comm, const Target& target, const std::vector<std::string>& names,
                             const Effort& effort) {
  TrialMemory memory(target, comm.size());
  std::vector<Contender> contenders = contenders_for(comm, target, names, memory, effort);
  const std::vector<Contender*> hopeful = hopeful_of(contenders, effort);
  const int rounds = hopeful.empty() ? 0 : rounds_for(hopeful, effort);
  Measurement measurement{place_of(target), !hopeful.empty()};
  for (int i = 0; i < most_races && measurement.is_disturbed; ++i) {
    race(comm, hopeful, rounds);
    measurement.is_disturbed = is_disturbed(hopeful);
  }
  for (const Contender& contender : contenders)
    measurement.cell.seconds[contender.name] =
        contender.seconds.empty() ? contender.estimate : median(contender.seconds);
  return measurement;
}

}  // namespace

std::vector<std::string> candidates_for(const Communicator& comm, const Target& target) {
  const Context& state = *comm.state();
  Signature signature = signature_of(target);
  signature.reproducible = state.options.reproducible;
  signature.has_timeout = state.options.timeout.count() > 0;
  Machine machine = state.machine();
  machine.measured = nullptr;
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates(signature, machine)) {
    // The host MPI's own collective is a candidate for nonblocking calls only once it was measured, so measure it.
    const bool can_be_earned =
        candidate.backend == &native_backend && candidate.nameable && target.kind == CallKind::nonblocking;
    if (candidate.excluded.empty() || can_be_earned) names.push_back(candidate.name);
  }
  return names;
}

Measurement measure(const Communicator& comm, const Target& target, const Effort& effort) {
  const std::vector<std::string> names = candidates_for(comm, target);
  if (!has_hidden_size(target.operation)) return measure_one_size(comm, target, names, effort);
  constexpr std::size_t sizes[] = {std::size_t{1} << 10U, std::size_t{32} << 10U, std::size_t{1} << 20U};
  Measurement mean{place_of(target), false};
  for (const std::size_t bytes : sizes) {
    Target sized = target;
    sized.bytes = bytes;
    const Measurement one = measure_one_size(comm, sized, names, effort);
    mean.is_disturbed = mean.is_disturbed || one.is_disturbed;
    for (const auto& [name, seconds] : one.cell.seconds)
      mean.cell.seconds.try_emplace(name, 1.0).first->second *= std::pow(seconds, 1.0 / std::size(sizes));
  }
  return mean;
}

}  // namespace tutti::detail::tuning
