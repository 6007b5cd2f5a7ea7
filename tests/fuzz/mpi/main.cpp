// SPDX-License-Identifier: BSD-3-Clause
// Random programs of MPI alone, whose collectives are made twice: mpiexec -n 3 env LD_PRELOAD=libtutti-mpi.so
// tutti_fuzz_mpi --seeds 100; CONTRIBUTING.md tells more.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/mpi/player.hpp"
#include "fuzz/watchdog.hpp"
#include "preload/world.hpp"

namespace {

using namespace tutti::fuzz::mpi;

struct Options {
  std::vector<std::uint64_t> seeds;
  std::uint64_t first = 1;
  std::uint64_t count = 10;
  double seconds = 0;
  double hang = 60;
  int threads = 1;
  bool prints = false, tells = false;
  Selection selection;
  Setting setting;
};

Options read(int argc, char** argv) {
  Options o;
  CLI::App app("Random programs of MPI, each derived from a seed by all ranks.");
  app.add_option("--seed", o.seeds, "seeds of the programs, instead of --first and --seeds")->delimiter(',');
  app.add_option("--first", o.first, "first seed");
  app.add_option("--seeds", o.count, "number of seeds; 0: until --seconds have passed");
  app.add_option("--seconds", o.seconds, "begins no program after so many seconds; 0: no limit");
  app.add_option("--hang", o.hang, "seconds without progress after which a rank is taken to hang");
  app.add_option("--threads", o.threads, "programs that run at one time, each in a thread")->check(CLI::Range(1, 8));
  app.add_option("--phase", o.selection.phase, "runs only this phase");
  app.add_option("--calls", o.selection.calls, "runs only these calls of the phase")->delimiter(',');
  app.add_flag("!--no-messages", o.selection.has_messages, "runs the calls alone");
  app.add_option("--largest", o.setting.largest, "bytes of a block, about")->check(CLI::PositiveNumber);
  app.add_option("--phases", o.setting.phases, "phases of a program");
  app.add_flag("--tell", o.tells, "writes each seed before it is played");
  app.add_flag("--print", o.prints, "writes the programs");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  // MPICH 4.0's own persistent collectives are not right in all uses. The program is the same otherwise.
  o.setting.has_persistent = TUTTI_TEST_HAS_PERSISTENT && tutti::test::is_library_loaded();
  return o;
}

void print(const Program& program) {
  for (std::size_t i = 0; i < program.phases.size(); ++i)
    fmt::print("seed {}, phase {}: {}", program.seed, i, describe(program, program.phases[i]));
  std::fflush(stdout);
}

/// Rank 0's clock counts.
bool goes_on(const Options& o, std::uint64_t played, std::chrono::steady_clock::time_point start) {
  const std::uint64_t all = o.seeds.empty() ? o.count : o.seeds.size();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  int goes = (all == 0 || played < all) && (o.seconds <= 0 || passed.count() < o.seconds) ? 1 : 0;
  PMPI_Bcast(&goes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return goes != 0;
}

/// One thread's programs of a seed.
class Stage {
 public:
  Stage(const Options& options, int rank, int ranks, int thread)
      : options_(options), rank_(rank), ranks_(ranks), thread_(thread), watchdog_(rank, options.hang) {
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
  }
  ~Stage() { MPI_Comm_free(&world_); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void play(std::uint64_t seed) {
    // Each further thread has a program of its own.
    const std::uint64_t own = seed + (static_cast<std::uint64_t>(thread_) << 32U);
    const Program program = make_program(own, ranks_, options_.setting);
    if (options_.tells && rank_ == 0 && thread_ == 0) fmt::print(stderr, "seed {}\n", seed);
    if (options_.prints && rank_ == 0) print(program);
    Player player(world_, [this](std::string step) { watchdog_.note(std::move(step)); });
    try {
      player.play(program, options_.selection);
    } catch (const std::exception& e) {
      fmt::print(stderr, "[rank {}] FAILED: {} ranks, {}\n", rank_, ranks_, e.what());
      std::fflush(stderr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

 private:
  const Options& options_;
  int rank_, ranks_, thread_;
  tutti::fuzz::Watchdog watchdog_;
  MPI_Comm world_ = MPI_COMM_NULL;
};

std::uint64_t play_all(const Options& o, int rank, int ranks) {
  std::deque<Stage> stages;
  for (int thread = 0; thread < o.threads; ++thread) stages.emplace_back(o, rank, ranks, thread);
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t played = 0;
  for (; goes_on(o, played, start); ++played) {
    const std::uint64_t seed = o.seeds.empty() ? o.first + played : o.seeds[played];
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < stages.size(); ++t) others.emplace_back([&, t] { stages[t].play(seed); });
    stages[0].play(seed);
    for (std::thread& other : others) other.join();
  }
  return played;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::uint64_t played = play_all(options, rank, ranks);
  if (rank == 0)
    fmt::print("{} programs passed on {} ranks, {}; {} calls of rank 0 went through Tutti\n", played, ranks,
               tutti::test::is_library_loaded() ? "beside libtutti-mpi" : "by the MPI alone",
               tutti::test::calls_through_library());
  MPI_Finalize();
  return 0;
}
