// SPDX-License-Identifier: BSD-3-Clause
#include "tools/program.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <tutti/error.hpp>

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

/// Their names, joined by commas.
std::string subcommands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    names += (names.empty() ? "" : ", ") + one->get_name();
  return names;
}

/// The first argument, if it should be a subcommand but is none.
std::string unknown_subcommand(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    if (one->get_name() == argv[1]) return {};
  return argv[1];
}

int show(const CLI::App& app, const CLI::ParseError& error, const std::string& unknown) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = app.exit(error, out, err);
  if (status == 0) {
    print(out.str());
    return 0;
  }
  if (is_root() && !unknown.empty())
    fmt::print(stderr, "tutti: there is no subcommand '{}'; valid: {} (see tutti --help)\n", unknown, subcommands(app));
  else if (is_root())
    fmt::print(stderr, "tutti: {} (see tutti --help)\n", error.what());
  return 1;
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
    return show(app, error, unknown_subcommand(app, argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti: {}{}\n", is_root() ? "" : fmt::format("rank {}: ", world_rank()), error.what());
    // Other ranks may wait for this one.
    if (world_size() > 1) MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
  return 0;
}

}  // namespace tutti::tools
