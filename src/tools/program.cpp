// SPDX-License-Identifier: BSD-3-Clause
#include "tools/program.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <tutti/error.hpp>

#include "common/command_line/parse.hpp"

namespace tutti::tools {

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

bool is_root() { return world_rank() == 0; }

void print(std::string_view text) {
  if (!is_root()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void write_file(const std::string& path, std::string_view text) {
  if (!is_root()) return;
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    throw Error(ErrorCode::io, fmt::format("cannot write '{}': check that its folder exists, that you may write there "
                                           "and that the disk is not full",
                                           path));
  fmt::print(stderr, "tutti: wrote {}\n", path);
}

std::filesystem::path own_root() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

std::vector<std::filesystem::path> library_folders() { return {own_root() / TUTTI_LIBRARY_FOLDER, own_root() / "lib"}; }

int run(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& end) {
    return end.get_exit_code();  // the subcommand has said why
  } catch (const CLI::ParseError& error) {
    return command_line::show(command_line::outcome_of(app, error), world_rank());
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti: {}{}\n", is_root() ? "" : fmt::format("rank {}: ", world_rank()), error.what());
    // Other ranks may wait for this one.
    if (world_size() > 1) MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
  return 0;
}

}  // namespace tutti::tools
