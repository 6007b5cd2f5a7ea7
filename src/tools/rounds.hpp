// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedules/schedule.hpp"
#include "tools/question.hpp"

namespace tutti::tools {

/// One rank's call, in seconds since the first rank began it. Rounds follow one another: each begins where the one
/// before ends.
struct RankTimes {
  double begin = 0;            ///< of the call
  double first = 0;            ///< of the first round
  std::vector<double> ends{};  ///< of the rounds; empty: the call has none, or they are not this library's
  double end = 0;              ///< of the call
};

/// When a round begins.
[[nodiscard]] inline double begin_of(const RankTimes& rank, std::size_t round) {
  return round == 0 ? rank.first : rank.ends[round - 1];
}

/// A call that all ranks of the job have made.
struct MeasuredCall {
  int repeats = 0;
  double seconds = 0;              ///< from the begin of the first rank to the end of the last one
  std::string clocks{};            ///< how those of the ranks were aligned, in words
  std::vector<RankTimes> ranks{};  ///< of each moment the median
};

/// When the model expects the rounds of all ranks to end, if they begin the call together. schedules: those of all
/// ranks. A round lasts as long as the model's price of its own messages, and at least to the end of the messages that
/// it receives, at their senders' price; messages longer than `eager` also wait for their receiver. An exchange on a
/// node waits for all its ranks. Its time is that of the fastest way.
[[nodiscard]] std::vector<RankTimes> predicted_rounds(const Case& call, const schedules::Algorithm& algorithm,
                                                      const std::vector<schedules::Schedule>& schedules);

/// Makes the call `repeats` times by that way, after some unmeasured ones. All ranks meet before each. block: the bytes
/// of each block of a call whose sizes the planner does not know. Throws UsageError for a reduction by a user's
/// function. Collective over MPI_COMM_WORLD; the result is that of rank 0, and empty elsewhere.
[[nodiscard]] MeasuredCall measured_rounds(const detail::Signature& signature, std::size_t block,
                                           const std::string& way, int repeats);

/// Measured and predicted times beside one another, a row for each round of each rank.
[[nodiscard]] std::string rounds_text(const MeasuredCall& measured, const std::vector<RankTimes>& predicted);

}  // namespace tutti::tools
