// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tutti::command_line {

/// The options that help shows, in their order, positional ones too.
[[nodiscard]] std::vector<const CLI::Option*> shown_options(const CLI::App& app);

/// The subcommands, in their order.
[[nodiscard]] std::vector<const CLI::App*> subcommands_of(const CLI::App& app);

/// A page for man(1), in roff. `version` is "tutti-dlrm 1.2.3".
[[nodiscard]] std::string manual_page(const CLI::App& app, const std::string& version);

/// A line for each option of the program and its subcommands: subcommand (or -), name, type (or flag) and description,
/// with tabs between them.
[[nodiscard]] std::string option_list(const CLI::App& app);

}  // namespace tutti::command_line
