// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/show/svg.hpp"
#include "planner/candidates.hpp"
#include "tools/protocol_drawing.hpp"
#include "tools/question.hpp"

namespace tutti::tools {

/// The plan for a call, and the other candidates.
struct Answer {
  Case call;
  std::vector<detail::Candidate> candidates;
  std::shared_ptr<const detail::Plan> plan;

  /// The candidate that the plan uses.
  [[nodiscard]] const detail::Candidate* chosen() const;
};

/// Whether the time of a candidate is known, measured or predicted.
[[nodiscard]] bool has_time(const detail::Candidate& candidate);

/// Asks the planner. A pure function of the case. Throws the planner's errors (invalid_algorithm).
[[nodiscard]] Answer answer(Case call);

/// Describes the choice, the candidates with their times, the reasons why some are excluded, and this rank's schedule
/// or the protocol.
[[nodiscard]] std::string answer_text(const Answer& answer);
[[nodiscard]] std::string answer_json(const Answer& answer);

/// Draws the schedule or the protocol. Throws Error(not_supported), which lists the algorithms that can be drawn, if
/// the call runs inside the host MPI.
[[nodiscard]] svg::Document answer_drawing(const Answer& answer);

/// The steps of a plan through shared memory.
[[nodiscard]] ProtocolView view_of(const Answer& answer);

}  // namespace tutti::tools
