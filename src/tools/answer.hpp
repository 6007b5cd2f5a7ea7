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

/// How a call would be made, and what else there was.
struct Answer {
  Case call;
  std::vector<detail::Candidate> candidates;
  std::shared_ptr<const detail::Plan> plan;

  /// The candidate that the plan is.
  [[nodiscard]] const detail::Candidate* chosen() const;
};

/// Whether the time of a candidate was measured or predicted; else it is not known.
[[nodiscard]] bool has_time(const detail::Candidate& candidate);

/// Asks the planner. A pure function of the case. Throws what the planner throws (invalid_algorithm).
[[nodiscard]] Answer answer(Case call);

/// The choice, the candidates with their times and why some are excluded, and this rank's schedule or the protocol.
[[nodiscard]] std::string answer_text(const Answer& answer);
[[nodiscard]] std::string answer_json(const Answer& answer);

/// The schedule or the protocol as a drawing. Throws Error (not_supported), which names what can be drawn, where the
/// call runs inside the host MPI.
[[nodiscard]] svg::Document answer_drawing(const Answer& answer);

/// The steps of a plan through shared memory.
[[nodiscard]] ProtocolView view_of(const Answer& answer);

}  // namespace tutti::tools
