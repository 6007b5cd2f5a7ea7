// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tutti::command_line {

/// The text of an error in a command line that `app` has read: the mistake, what to pass in its place, and the help to
/// ask. An option that does not exist is named with the most similar one, a command with those that there are.
[[nodiscard]] std::string mistake_text(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tutti::command_line
