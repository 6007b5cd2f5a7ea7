// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "tools/loaded_mpi.hpp"
#include "tools/program.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

struct Launch {
  std::string library{};
  std::string mpi{};
  bool reports = false;
  std::vector<std::string> command{};
};

/// libtutti-mpi as it lies beside this program, in the build tree or installed, for the MPI that the program loads.
std::string library_beside(const Launch& options) {
  const std::string mpi =
      options.mpi.empty() ? mpi_loaded_by(options.command[0]) : fs::path(options.mpi).filename().string();
  return library_for(mpi, library_folders());
}

void require_file(const std::string& path, const char* option) {
  if (::access(path.c_str(), R_OK) == 0) return;
  throw Error(ErrorCode::io,
              fmt::format("run: cannot read '{}': {}; pass a file by {}", path, std::strerror(errno), option));
}

/// The dynamic linker takes LD_PRELOAD apart there, passes over parts that are no file, and starts the program without
/// Tutti.
void require_one_word(const std::string& path, const char* option) {
  if (path.find_first_of(" :") == std::string::npos) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("run: the dynamic linker takes the path '{}' apart at its space or colon; make a symbolic link "
                  "to the file at a path without them, and pass it by {}",
                  path, option));
}

void preload(const std::string& library) {
  const char* others = std::getenv("LD_PRELOAD");
  const std::string all = others == nullptr || *others == '\0' ? library : library + ":" + others;
  ::setenv("LD_PRELOAD", all.c_str(), 1);
}

void launch(const Launch& options) {
  const std::string mpi = options.mpi.empty() ? "" : fs::absolute(options.mpi).string();
  require_one_word(mpi, "--mpi");
  if (!mpi.empty()) require_file(mpi, "--mpi");
  const std::string library =
      options.library.empty() ? library_beside(options) : fs::absolute(options.library).string();
  require_one_word(library, "--library");
  require_file(library, "--library");
  if (!mpi.empty()) preload(mpi);
  preload(library);
  if (options.reports) ::setenv("TUTTI_MPI_REPORT", "1", 1);
  std::vector<char*> words;
  for (const std::string& word : options.command)
    words.push_back(const_cast<char*>(word.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast): execvp's type
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  throw Error(ErrorCode::io, fmt::format("run: cannot start '{}': {}; pass a program of this PATH, or its file",
                                         options.command[0], std::strerror(errno)));
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* run = app.add_subcommand(
      "run",
      "Runs a program that calls MPI only, with Tutti's collectives: mpiexec -n 4 tutti run -- program arguments");
  const auto options = std::make_shared<Launch>();
  run->add_option("--library", options->library,
                  "File of libtutti-mpi; default: the one beside this program for its MPI, libtutti-mpi-abi.so for the "
                  "ABI of MPI 5")
      ->type_name("FILE");
  run->add_option("--mpi", options->mpi,
                  "File of the MPI's library, for programs that load it themselves, such as Python with mpi4py")
      ->type_name("FILE");
  run->add_flag("--report", options->reports, "Say at the end which calls went through Tutti, and by which way");
  run->add_option("command", options->command, "The program and its arguments, as in tutti run -- ./heat --steps 100")
      ->required();
  run->positionals_at_end();
  run->callback([options] { launch(*options); });
}

bool is_run(int argc, const char* const* argv) { return argc > 1 && std::string_view(argv[1]) == "run"; }

}  // namespace tutti::tools
