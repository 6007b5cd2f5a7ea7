// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "tools/rounds.hpp"
#include "tools/units.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

std::vector<std::string> row_of(const RankTimes& measured, const RankTimes& predicted, std::size_t rank,
                                std::size_t round) {
  const double seconds = measured.ends[round] - begin_of(measured, round);
  const double expected = predicted.ends[round] - begin_of(predicted, round);
  return {fmt::format("{}", rank),
          fmt::format("{}", round),
          seconds_text(begin_of(measured, round)),
          seconds_text(seconds),
          seconds_text(expected),
          expected > 0 ? fmt::format("{:.2f}", seconds / expected) : "-"};
}

}  // namespace

std::string rounds_text(const MeasuredCall& measured, const std::vector<RankTimes>& predicted) {
  std::string text = fmt::format("Measured: {}, the median of {} calls; {}\n", seconds_text(measured.seconds),
                                 measured.repeats, measured.clocks);
  if (predicted.empty()) return text + "The call has no rounds of messages: it is measured as a whole.\n";
  double last = 0;
  for (const RankTimes& one : predicted) last = std::max(last, one.end);
  text += fmt::format("Predicted by its rounds: {}\n", seconds_text(last));
  detail::TextRows rows = {{"rank", "round", "begins at", "measured", "predicted", "ratio"}};
  for (std::size_t rank = 0; rank < predicted.size(); ++rank)
    for (std::size_t round = 0; round < predicted[rank].ends.size(); ++round)
      rows.push_back(row_of(measured.ranks[rank], predicted[rank], rank, round));
  return text + detail::in_columns(rows);
}

}  // namespace tutti::tools
