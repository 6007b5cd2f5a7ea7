// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "plot.hpp"
#include "settings.hpp"

namespace tutti::commbench {

enum class Task { measure, list, plot, stop };

/// What the command line asks for.
struct Request {
  Task task = Task::measure;
  Settings settings{};
  PlotOptions plot{};
  int exit_code = 0;   ///< stop: help or an error
  std::string text{};  ///< stop: what to print
};

/// Reads the command line; never throws. Errors name the argument and the remedy.
[[nodiscard]] Request parse_command_line(int argc, const char* const* argv);

}  // namespace tutti::commbench
