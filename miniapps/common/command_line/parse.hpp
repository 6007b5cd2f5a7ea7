// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tutti::command_line {

/// The outcome of reading a command line.
struct Outcome {
  bool stop = false;  ///< help, version or an error: show `text` and end with `exit_code`
  int exit_code = 0;
  std::string text{};  ///< for standard output if the exit code is 0, else for standard error
};

/// Gives the app --help and the hidden options --help-man and --help-bash, which print a manual page and a completion
/// for bash, and --help-options, which prints a line for each option: subcommand, name, type and description, with tabs
/// between them. A manual page shows the first line of `version`. Call it when all options and subcommands are there.
void add_helps(CLI::App& app, const std::string& version);

/// Reads the arguments, without the name of the program, and calls `check`, which throws std::exception if they do not
/// fit one another. Throws nothing. An error is one line that begins with the name of the program.
[[nodiscard]] Outcome parse(CLI::App& app, std::vector<std::string> arguments, const std::function<void()>& check);

/// The text of an error in a command line that `app` has read: the mistake, what to pass in its place, and the help to
/// ask. An option that does not exist is named with the most similar one, a command with those that there are.
[[nodiscard]] std::string mistake_text(const CLI::App& app, const CLI::ParseError& error);

/// The outcome of what CLI::App::parse threw.
[[nodiscard]] Outcome outcome_of(const CLI::App& app, const CLI::ParseError& error);

/// Whether the arguments ask for a document of add_helps() alone, which needs no MPI: a build writes them.
[[nodiscard]] bool asks_for_document(int argc, const char* const* argv);

/// All arguments but the name of the program.
[[nodiscard]] std::vector<std::string> arguments_of(int argc, const char* const* argv);

/// Writes the text of an outcome, on rank 0 only, and returns the exit code.
int show(const Outcome& outcome, int rank);

/// A script for bash that completes subcommands, options, the words that an option takes, and files.
[[nodiscard]] std::string bash_completion(const CLI::App& app);

}  // namespace tutti::command_line
