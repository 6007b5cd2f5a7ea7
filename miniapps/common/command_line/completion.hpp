// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tutti::command_line {

/// A script for bash that completes subcommands, options, the words that an option takes, and files.
[[nodiscard]] std::string bash_completion(const CLI::App& app);

}  // namespace tutti::command_line
