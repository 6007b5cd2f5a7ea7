// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common/command_line/parse.hpp"
#include "plot.hpp"
#include "settings.hpp"

namespace tutti::commbench {

enum class Task { measure, list, plot, stop };

/// What the command line asks for.
struct Request : command_line::Outcome {
  Task task = Task::measure;
  Settings settings{};
  PlotOptions plot{};
};

/// Reads the command line; never throws. Errors name the argument and the remedy.
[[nodiscard]] Request parse_command_line(int argc, const char* const* argv);

}  // namespace tutti::commbench
