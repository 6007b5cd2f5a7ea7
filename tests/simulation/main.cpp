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
#include "simulation/litmus.hpp"
#include "simulation/orders.hpp"
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
  std::vector<std::string> weakened;
  std::string weaker = "relaxed";
  bool prints_orders = false;
  bool plays_litmus = false;
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
  app.add_flag("--weak", a.wishes.weak, "2 to 4 ranks, whose shared memory is weakly ordered");
  app.add_option("--weaken", a.weakened, "gives accesses a weaker order, and expects that one of the seeds finds it")
      ->delimiter(',');
  app.add_option("--to", a.weaker, "that order")->check(CLI::IsMember(order_names()));
  app.add_flag("--orders", a.prints_orders, "writes the accesses that --weaken knows, with their orders");
  app.add_flag("--litmus", a.plays_litmus, "plays what is known of weak memory instead of programs");
  app.add_flag("--repeat", a.repeats, "plays each seed twice, and compares all decisions");
  app.add_flag("--print", a.wishes.prints, "writes the steps of all ranks");
  try {
    app.parse(argc, argv);
    if (a.wishes.weak && a.wishes.ranks > most_clocks)
      throw CLI::ValidationError("--ranks", fmt::format("at most {} with --weak", most_clocks));
  } catch (const CLI::ParseError& e) {
    std::exit(app.exit(e));
  }
  a.wishes.fault = fault_of(a.fault);
  Orders::instance().weaken(a.weakened, a.weaker);
}

bool expects_defect(const Arguments& a) { return a.wishes.fault != Fault::none || !a.weakened.empty(); }

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

void report(std::uint64_t seed, const std::string& problem, const Arguments& a) {
  if (!expects_defect(a)) {
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
  if (a.plays_litmus) end(play_litmus() ? 0 : 1);
  const auto start = std::chrono::steady_clock::now();
  Total total;
  for (; goes_on(a, total, start); ++total.seeds) {
    const std::uint64_t seed = a.seeds.empty() ? a.first + total.seeds : a.seeds[total.seeds];
    const Result result = play(seed, a.wishes, total);
    if (!result.problem.empty()) report(seed, result.problem, a);
    if (a.repeats && play(seed, a.wishes, total).digest != result.digest)
      report(seed, "its decisions differ when it is played again", a);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  fmt::print("{} seeds passed in {:.1f} s, {} decisions; {} ranks ended with an error after the death of another\n",
             total.seeds, passed.count(), total.decisions, total.failed);
  // With TUTTI_LOG=summary: the ways that calls of all ranks took.
  if (const tutti::detail::Summary* summary = tutti::detail::Summary::if_wanted()) fmt::print("{}", summary->text());
  if (a.prints_orders) fmt::print("{}", Orders::instance().text());
  if (!expects_defect(a)) end(0);
  fmt::print(stderr, "FAILED: the fault was not found\n");
  end(1);
}
