// SPDX-License-Identifier: BSD-3-Clause
// Random legal programs: mpiexec -n 3 tutti_fuzz --seed 1 --seeds 100; CONTRIBUTING.md tells more.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "call/context.hpp"
#include "fuzz/player.hpp"
#include "fuzz/processes.hpp"

namespace {

using namespace tutti::fuzz;

bool is_on(const char* variable, bool otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::string(value) == "1";
}

struct Arguments {
  std::vector<std::uint64_t> seeds;
  std::uint64_t first = 1;
  std::uint64_t count = 10;
  double seconds = 0;
  double hang = 60;
  bool prints = false;
  Selection selection;
  Setting setting;
};

void read(Arguments& a, int argc, char** argv) {
  CLI::App app("Random legal programs of collective calls, each derived from a seed by all ranks.");
  app.add_option("--seed", a.seeds, "seeds of the programs, instead of --first and --seeds")->delimiter(',');
  app.add_option("--first", a.first, "first seed");
  app.add_option("--seeds", a.count, "number of seeds; 0: until --seconds have passed");
  app.add_option("--seconds", a.seconds, "begins no program after so many seconds; 0: no limit");
  app.add_option("--hang", a.hang, "seconds without progress after which a rank is taken to hang")
      ->check(CLI::PositiveNumber);
  app.add_option("--phase", a.selection.phase, "runs only this phase");
  app.add_option("--calls", a.selection.calls, "runs only these calls of the phase")->delimiter(',');
  app.add_option("--largest", a.setting.largest, "bytes that a rank gives in one call, about")
      ->check(CLI::PositiveNumber);
  app.add_option("--phases", a.setting.phases, "phases of a program");
  app.add_flag("!--distinct", a.setting.aliases_empty, "empty arrays have no address");
  app.add_flag("--print", a.prints, "writes the programs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    MPI_Finalize();
    std::exit(status);
  }
  a.setting.shared_memory = is_on("TUTTI_SHM", true);
  a.setting.single_copy = is_on("TUTTI_SINGLE_COPY", true);
  a.setting.progress_thread = is_on("TUTTI_PROGRESS_THREAD", false);
  a.setting.reproducible = is_on("TUTTI_REPRODUCIBLE", false);
}

void print(const Program& program, const Selection& selection) {
  for (std::size_t i = 0; i < program.phases.size(); ++i)
    if (selection.has(i)) fmt::print("seed {}, phase {}: {}", program.seed, i, describe(program, program.phases[i]));
  std::fflush(stdout);
}

/// Rank 0's clock counts.
bool goes_on(const Arguments& a, std::uint64_t played, std::chrono::steady_clock::time_point start) {
  const std::uint64_t all = a.seeds.empty() ? a.count : a.seeds.size();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  int goes = (all == 0 || played < all) && (a.seconds <= 0 || passed.count() < a.seconds) ? 1 : 0;
  MPI_Bcast(&goes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return goes != 0;
}

void play_all(Arguments& a, int rank, int ranks) {
  {
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    // Ranks of several nodes meet by messages throughout.
    if (comm.topology().nodes > 1) a.setting.shared_memory = false;
    a.setting.progress_hook = comm.state()->progress_hook;
  }
  Processes world(rank, a.hang);
  Player player(a.setting, world);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t played = 0;
  for (; goes_on(a, played, start); ++played) {
    const std::uint64_t seed = a.seeds.empty() ? a.first + played : a.seeds[played];
    const Program program = make_program(seed, ranks, a.setting);
    if (a.prints && rank == 0) print(program, a.selection);
    try {
      player.play(program, a.selection);
    } catch (const std::exception& e) {
      fmt::print(stderr, "[rank {}] FAILED: {} ranks, seed {}, {}\n", rank, ranks, seed, e.what());
      std::fflush(stderr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  if (rank == 0) {
    if (a.seeds.empty())
      fmt::print("{} programs passed on {} ranks, seeds {} to {}\n", played, ranks, a.first, a.first + played - 1);
    else
      fmt::print("{} of {} programs passed on {} ranks\n", played, a.seeds.size(), ranks);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool threads = is_on("TUTTI_PROGRESS_THREAD", false);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Arguments arguments;
  read(arguments, argc, argv);
  play_all(arguments, rank, ranks);
  MPI_Finalize();
  return 0;
}
