// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planner/candidates.hpp"
#include "tools/protocol_view.hpp"
#include "tools/question.hpp"
#include "tools/rounds.hpp"

namespace tutti::tools {

/// The plan for a call, and the other candidates.
struct Answer {
  Case call;
  std::vector<detail::Candidate> candidates;
  std::shared_ptr<const detail::Plan> plan;
  std::optional<MeasuredCall> measured{};    ///< of the plan, if it was asked for
  std::vector<RankTimes> predicted_ranks{};  ///< beside its rounds; empty: it has none

  /// The candidate that the plan uses.
  [[nodiscard]] const detail::Candidate* chosen() const;
};

/// Whether the time of a candidate is known, measured or predicted.
[[nodiscard]] bool has_time(const detail::Candidate& candidate);

/// Asks the planner. A pure function of the case. Throws the planner's errors (invalid_algorithm).
[[nodiscard]] Answer answer(Case call);

/// Adds a measurement, and the prediction of its rounds. Throws Error(internal) if the ranks had other rounds than the
/// plan's schedules.
void add_measured(Answer& answer, MeasuredCall measured);

/// Describes the choice, the candidates with their times, the reasons why some are excluded, and this rank's schedule
/// or the protocol.
[[nodiscard]] std::string answer_text(const Answer& answer);
/// all_ranks: with what all ranks do, as a drawing has it. Throws Error(invalid_argument) if they are more than
/// most_drawn_ranks.
[[nodiscard]] std::string answer_json(const Answer& answer, bool all_ranks = false);

/// Throws Error(not_supported), which lists the algorithms that can be drawn, if the call runs inside the host MPI.
void check_drawable(const Answer& answer);

/// The steps of a plan through shared memory.
[[nodiscard]] ProtocolView view_of(const Answer& answer);

}  // namespace tutti::tools
