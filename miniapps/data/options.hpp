// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "commands.hpp"
#include "common/command_line/parse.hpp"

namespace tutti::data {

/// A subcommand of tutti-data; `stop` where the command line itself says all, as --help does.
enum class Task { stop, convert, generate, info, check, sample };

/// What the command line asks for; as an Outcome, whether to stop at once. Options that one number gives for all tables
/// are as the user gave them.
struct Request : command_line::Outcome {
  Task task = Task::stop;
  ConvertOptions convert;    ///< of Task::convert
  GenerateOptions generate;  ///< of Task::generate
  ViewOptions view;          ///< of the others
};

/// Reads the command line, in which options must fit one another. Throws nothing: a fault is an Outcome that says so in
/// one line. Local; needs no MPI.
[[nodiscard]] Request parse_command_line(int argc, const char* const* argv);

}  // namespace tutti::data
