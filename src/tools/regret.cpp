// SPDX-License-Identifier: BSD-3-Clause
#include "tools/regret.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

namespace tutti::detail::tuning {
namespace {

constexpr std::size_t most_finalists = 4;
constexpr double near_best = 1.1;  // a rival whose figure is within this ratio of the best figure may be the best
constexpr int least_final_rounds = 15;

bool is_faster(const Contender* a, const Contender* b) { return median(a->seconds) < median(b->seconds); }

/// The contenders that take part: the chosen way, which comes first, whatever its estimate, and the hopeful ones. An
/// estimate that makes a way hopeless is taken twice, since a way that is missing would make the choice look good.
std::vector<Contender*> entrants_of(const Communicator& comm, std::vector<Contender>& contenders,
                                    const Effort& effort) {
  const std::vector<Contender*> first = hopeful_of(contenders, effort);
  std::vector<Contender*> hopeless;
  for (Contender& contender : contenders)
    if (std::ranges::find(first, &contender) == first.end()) hopeless.push_back(&contender);
  estimate_again(comm, hopeless);
  std::vector<Contender*> entrants = hopeful_of(contenders, effort);
  Contender* const chosen = &contenders.front();
  if (std::ranges::find(entrants, chosen) == entrants.end()) entrants.insert(entrants.begin(), chosen);
  return entrants;
}

/// The ratio that the figures show at first. Where figures scatter, the ratio of the medians and the median of the
/// ratios differ: the higher of both decides whether to measure again.
double apparent_ratio(const Regret& regret, const std::vector<Contender*>& entrants) {
  const Contender* best = *std::ranges::min_element(entrants, is_faster);
  return std::max(regret.ratio, median(entrants.front()->seconds) / median(best->seconds));
}

/// The chosen way and the rivals that may be the best.
std::vector<Contender*> finalists_of(const std::vector<Contender*>& entrants) {
  std::vector<Contender*> rivals(entrants.begin() + 1, entrants.end());
  std::ranges::sort(rivals, is_faster);
  const double limit = near_best * median(rivals.front()->seconds);
  std::vector<Contender*> finalists{entrants.front()};
  for (Contender* rival : rivals)
    if (finalists.size() < most_finalists && median(rival->seconds) <= limit) finalists.push_back(rival);
  return finalists;
}

/// Measures the finalists again, with figures of this race alone.
void confirm(const Communicator& comm, Regret& regret, const std::vector<Contender*>& entrants, const Effort& effort) {
  const std::vector<Contender*> finalists = finalists_of(entrants);
  for (Contender* finalist : finalists) finalist->seconds.clear();
  Effort more = effort;
  more.rounds = std::max(2 * effort.rounds, least_final_rounds);
  more.target_seconds = 2 * effort.target_seconds;
  race(comm, finalists, rounds_for(finalists, more));
  compare_with_best(regret, finalists);
  regret.confirmed = true;
}

}  // namespace

Interval interval_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t count = values.size();
  // `tail` is the probability that fewer than `place` + 1 of `count` values are below the median.
  double term = std::pow(0.5, static_cast<double>(count));
  double tail = term;
  std::size_t place = 0;
  while (2 * tail <= 0.05 && place < count / 2) {
    ++place;
    term *= static_cast<double>(count - place + 1) / static_cast<double>(place);
    tail += term;
  }
  const std::size_t first = place == 0 ? 0 : place - 1;
  return {values[first], values[count - 1 - first]};
}

void compare_with_best(Regret& regret, const std::vector<Contender*>& entrants) {
  const Contender& chosen = *entrants.front();
  const Contender& best = **std::ranges::min_element(entrants, is_faster);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < chosen.seconds.size(); ++i) ratios.push_back(chosen.seconds[i] / best.seconds[i]);
  regret.best = best.name;
  regret.ratio = median(ratios);
  regret.interval = interval_of(std::move(ratios));
}

RegretSummary summary_of(const std::vector<Regret>& regrets) {
  RegretSummary summary;
  double logs = 0;
  for (const Regret& regret : regrets) {
    ++summary.cells;
    if (regret.ratio <= believed) ++summary.near;
    if (regret.interval.low > believed) ++summary.certain;
    logs += std::log(regret.ratio);
  }
  if (summary.cells > 0) summary.mean = std::exp(logs / static_cast<double>(summary.cells));
  return summary;
}

void sort_worst_first(std::vector<Regret>& regrets) {
  std::ranges::stable_sort(regrets, [](const Regret& a, const Regret& b) { return a.ratio > b.ratio; });
}

std::vector<Target> sized_targets_of(const Scope& scope, int ranks) {
  std::vector<Target> targets;
  for (const Target& target : targets_of(scope, ranks)) {
    if (!has_hidden_size(target.operation)) {
      targets.push_back(target);
      continue;
    }
    for (const std::size_t bytes : sizes_of(scope, static_cast<std::size_t>(ranks))) {
      targets.push_back(target);
      targets.back().bytes = bytes;
    }
  }
  return targets;
}

Regret regret_of(const Communicator& comm, const Target& target, const Effort& effort) {
  Target planned = target;
  if (has_hidden_size(target.operation)) planned.bytes = 0;
  const std::vector<std::string> names = candidates_for(comm, planned);
  TrialMemory memory(target, comm.size());
  std::vector<Contender> contenders = contenders_for(comm, target, names, memory, effort);
  if (contenders.empty() || contenders.front().name != names.front())
    throw Error(ErrorCode::internal, "regret: the untuned choice cannot be named: " + describe(target));
  const std::vector<Contender*> entrants = entrants_of(comm, contenders, effort);
  race(comm, entrants, rounds_for(entrants, effort));
  Regret regret{target, names.front()};
  compare_with_best(regret, entrants);
  if (apparent_ratio(regret, entrants) > believed) confirm(comm, regret, entrants, effort);
  for (const Contender& contender : contenders)
    regret.seconds[contender.name] = contender.seconds.empty() ? contender.estimate : median(contender.seconds);
  return regret;
}

}  // namespace tutti::detail::tuning
