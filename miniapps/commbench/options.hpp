// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common/command_line/parse.hpp"
#include "replay/replay.hpp"
#include "settings.hpp"

namespace tutti::commbench {

enum class Task { measure, list, plot, replay, stop };

struct PlotOptions {
  std::string input;   ///< a file that tutti-commbench --json wrote
  std::string output;  ///< the SVG to write
  std::string metric = "latency";
  std::vector<std::string> operations{};  ///< only these; empty: all
};

/// What the command line asks for.
struct Request : command_line::Outcome {
  Task task = Task::measure;
  Settings settings{};
  PlotOptions plot{};
  replay::ReplaySettings replay_settings{};
};

/// Reads the command line; never throws. Errors name the argument and the remedy.
[[nodiscard]] Request parse_command_line(int argc, const char* const* argv);

}  // namespace tutti::commbench
