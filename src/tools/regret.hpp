// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "tools/race.hpp"
#include "tools/search.hpp"
#include "tools/targets.hpp"

namespace tutti::detail::tuning {

/// A range that contains the median of a population, with the confidence that `interval_of` states.
struct Interval {
  double low = 1;
  double high = 1;
};

/// The range between two of the values that contains the median of what they are drawn from with a confidence of at
/// least 95 %, whatever the distribution (sign test). Fewer than 6 values do not suffice: the range of all of them.
/// There must be a value.
[[nodiscard]] Interval interval_of(std::vector<double> values);

/// The time that the untuned choice loses at one kind of call and size. Figures are those of the slowest rank.
struct Regret {
  Target target{};
  std::string chosen{};
  std::string best{};
  double ratio = 1;                                      ///< of the chosen way's time to the best way's
  Interval interval{};                                   ///< of the ratio, over the rounds
  bool confirmed = false;                                ///< the ratio exceeded `believed` and was measured again
  std::map<std::string, double, std::less<>> seconds{};  ///< per call, by candidate
};

/// A lower ratio is taken as it is measured at first. A higher one is measured again, by the chosen way and its nearest
/// rivals alone and with fresh figures, because the fastest of many is often the luckiest.
inline constexpr double believed = 1.1;

/// What a list of regrets says.
struct RegretSummary {
  std::size_t cells = 0;
  std::size_t near = 0;     ///< cells with a ratio of at most `believed`
  std::size_t certain = 0;  ///< cells whose interval begins above `believed`
  double mean = 1;          ///< geometric mean of the ratios
};
[[nodiscard]] RegretSummary summary_of(const std::vector<Regret>& regrets);

/// Compares the chosen way, the first of the entrants, with the fastest of them, round by round. All have run the same
/// rounds.
void compare_with_best(Regret& regret, const std::vector<Contender*>& entrants);

/// Orders regrets by ratio, the greatest first.
void sort_worst_first(std::vector<Regret>& regrets);

/// The targets of a scope, where a call whose size only some ranks know has one target per size of a block.
[[nodiscard]] std::vector<Target> sized_targets_of(const Scope& scope, int ranks);

/// Measures the candidates of a target and compares the untuned choice with the fastest. Collective; the same result on
/// all ranks.
[[nodiscard]] Regret regret_of(const Communicator& comm, const Target& target, const Effort& effort);

}  // namespace tutti::detail::tuning
