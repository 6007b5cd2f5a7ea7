// SPDX-License-Identifier: BSD-3-Clause
// Ranks in one process, whose every step a seed orders: tutti_simulation --first 1 --seeds 1000; CONTRIBUTING.md tells
// more.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/list.hpp"
#include "call/summary.hpp"
#include "simulation/decisions.hpp"
#include "simulation/run.hpp"

namespace {

using namespace tutti::simulation;

struct Arguments {
  std::vector<std::uint64_t> seeds;
  std::uint64_t first = 1;
  std::uint64_t count = 100;
  double seconds = 0;
  bool repeats = false;
  std::string fault = "none";
  Wishes wishes;
};

void read(Arguments& a, int argc, char** argv) {
  CLI::App app(
      "Random legal programs of collective calls, whose ranks are in one process: each seed decides program, "
      "machine and the order of all steps.");
  a.wishes.setting.phases = 2;
  a.wishes.setting.largest = std::size_t{1} << 16U;
  app.add_option("--seed", a.seeds, "seeds, instead of --first and --seeds")->delimiter(',');
  app.add_option("--first", a.first, "first seed");
  app.add_option("--seeds", a.count, "number of seeds; 0: until --seconds have passed");
  app.add_option("--seconds", a.seconds, "begins no seed after so many seconds; 0: no limit");
  app.add_option("--ranks", a.wishes.ranks, "number of ranks; 0: by the seed")->check(CLI::Range(0, 64));
  app.add_option("--largest", a.wishes.setting.largest, "bytes that a rank gives in one call, about")
      ->check(CLI::PositiveNumber);
  app.add_option("--phases", a.wishes.setting.phases, "phases of a program");
  app.add_option("--fault", a.fault, "plants a defect, and expects that one of the seeds finds it")
      ->check(CLI::IsMember(fault_names()));
  app.add_flag("--repeat", a.repeats, "plays each seed twice, and compares all decisions");
  app.add_flag("--print", a.wishes.prints, "writes the steps of all ranks");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  a.wishes.fault = fault_of(a.fault);
}

/// Sums of all seeds.
struct Total {
  std::uint64_t seeds = 0;
  std::uint64_t decisions = 0;
  std::uint64_t failed = 0;
};

struct Result {
  std::string problem;
  std::uint64_t digest = 0;
};

Result play(std::uint64_t seed, const Wishes& wishes, Total& total) {
  std::string decisions = check_decisions(seed, wishes.fault == Fault::plan);
  if (!decisions.empty()) return {decisions, 0};
  auto run = std::make_unique<Run>(seed, wishes);
  Result result{run->play(), 0};
  result.digest = run->digest();
  total.decisions += run->decisions();
  total.failed += static_cast<std::uint64_t>(run->failed());
  // What the ranks have left cannot be destroyed amidst their steps.
  if (!result.problem.empty()) (void)run.release();
  return result;
}

[[noreturn]] void end(int code) {
  std::fflush(stdout);
  std::fflush(stderr);
  std::_Exit(code);
}

void report(std::uint64_t seed, const std::string& problem, const Wishes& wishes) {
  if (wishes.fault == Fault::none) {
    fmt::print(stderr, "FAILED: seed {}: {}\n", seed, problem);
    end(1);
  }
  fmt::print("the fault was found by seed {}: {}\n", seed, problem);
  end(0);
}

bool goes_on(const Arguments& a, const Total& total, std::chrono::steady_clock::time_point start) {
  const std::uint64_t all = a.seeds.empty() ? a.count : a.seeds.size();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return (all == 0 || total.seeds < all) && (a.seconds <= 0 || passed.count() < a.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  read(a, argc, argv);
  // Trials of ways need hundreds of equal calls, and XPMEM other processes.
  setenv("TUTTI_TRIALS", "0", 1);
  setenv("TUTTI_XPMEM", "0", 1);
  // There is no host MPI to make collectives.
  tutti::detail::native_backend.add_candidates = [](tutti::detail::Candidates&) {};
  const auto start = std::chrono::steady_clock::now();
  Total total;
  for (; goes_on(a, total, start); ++total.seeds) {
    const std::uint64_t seed = a.seeds.empty() ? a.first + total.seeds : a.seeds[total.seeds];
    const Result result = play(seed, a.wishes, total);
    if (!result.problem.empty()) report(seed, result.problem, a.wishes);
    if (a.repeats && play(seed, a.wishes, total).digest != result.digest)
      report(seed, "its decisions differ when it is played again", a.wishes);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  fmt::print("{} seeds passed in {:.1f} s, {} decisions; {} ranks ended with an error after the death of another\n",
             total.seeds, passed.count(), total.decisions, total.failed);
  // With TUTTI_LOG=summary: the ways that calls of all ranks took.
  if (const tutti::detail::Summary* summary = tutti::detail::Summary::if_wanted()) fmt::print("{}", summary->text());
  if (a.wishes.fault == Fault::none) end(0);
  fmt::print(stderr, "FAILED: the fault {} was not found\n", a.fault);
  end(1);
}
