// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "common/show/svg.hpp"
#include "schedules/node_map.hpp"
#include "schedules/schedule.hpp"

namespace tutti::tools {

/// The labels of the drawing of a schedule.
struct ScheduleCaption {
  std::string title;             ///< the call and the algorithm
  std::string op;                ///< "sum"; empty if nothing is combined
  std::size_t element_size = 1;  ///< bytes
  schedules::NodeMap node_of{};  ///< empty: one node
};

/// The largest numbers of ranks and rounds in a drawing.
inline constexpr std::size_t most_drawn_ranks = 64;
inline constexpr std::size_t most_drawn_steps = 512;

/// Throws Error(invalid_argument), with the limits, if so many ranks cannot be drawn.
void check_drawable(std::size_t ranks);

/// Draws the schedules of all ranks: a column per rank, a row per round, an arrow per message (the wider the longer),
/// and marks for local copies and reductions. No text is over another. Throws Error(invalid_argument), with the limits,
/// if a drawing is too large.
[[nodiscard]] svg::Document schedule_drawing(std::span<const schedules::Schedule> schedules,
                                             const ScheduleCaption& caption);

}  // namespace tutti::tools
