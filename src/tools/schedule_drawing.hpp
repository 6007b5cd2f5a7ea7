// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "common/show/svg.hpp"
#include "schedules/schedule.hpp"

namespace tutti::tools {

/// What the drawing of a schedule says beside its lines.
struct ScheduleCaption {
  std::string title;               ///< what is drawn: the call and the algorithm
  std::string op;                  ///< "sum"; empty where nothing is combined
  std::size_t element_size = 1;    ///< bytes
  std::span<const int> node_of{};  ///< empty: one node
};

/// Most ranks and steps that a drawing may have.
inline constexpr std::size_t most_drawn_ranks = 64;
inline constexpr std::size_t most_drawn_steps = 512;

/// The schedules of all ranks as a drawing: a column a rank, a row a step, an arrow a message (the wider the longer),
/// marks for local copies and reductions. Throws Error (invalid_argument), with the limits, where there is too much.
[[nodiscard]] svg::Document schedule_drawing(std::span<const schedules::Schedule> schedules,
                                             const ScheduleCaption& caption);

}  // namespace tutti::tools
