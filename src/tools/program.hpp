// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Shared by the subcommands of `tutti`. Each has a header of its own with `void add_<name>(CLI::App& app)`,
/// which registers it; its callback runs on every rank of the job, after MPI was initialised.
namespace tutti::tools {

/// Whether this process prints: it is rank 0 of MPI_COMM_WORLD.
[[nodiscard]] bool is_root();

/// Ranks of MPI_COMM_WORLD.
[[nodiscard]] int world_size();

/// Writes text to standard output, from rank 0 only.
void print(std::string_view text);

/// Writes a file, from rank 0 only, and reports it on standard error. Throws tutti::Error naming the path.
void write_file(const std::string& path, std::string_view text);

/// The folder in which this program's folder bin lies, in the build tree or installed.
[[nodiscard]] std::filesystem::path own_root();

/// Where libraries lie beside this program.
[[nodiscard]] std::vector<std::filesystem::path> library_folders();

/// A mistake in the arguments that every rank sees. Rank 0 shows the text, and all ranks end with a nonzero status.
class UsageError : public CLI::ValidationError {
 public:
  explicit UsageError(const std::string& message) : CLI::ValidationError(message, CLI::ExitCodes::ValidationError) {}
};

/// Parses the command line and runs the subcommand it names. Returns the exit status. Collective over MPI_COMM_WORLD.
[[nodiscard]] int run(CLI::App& app, int argc, const char* const* argv);

}  // namespace tutti::tools
