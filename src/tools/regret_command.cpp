// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <cstdlib>
#include <limits>
#include <memory>

#include "common/command_line/options.hpp"
#include "common/command_line/progress.hpp"
#include "tools/program.hpp"
#include "tools/regret_report.hpp"
#include "tools/scope_options.hpp"

namespace tutti::tools {
namespace {

namespace tuning = detail::tuning;
using namespace command_line;

constexpr std::size_t most_rows = 1'000'000;

struct RegretSettings {
  ScopeWords words;
  tuning::Effort effort;
  double budget = 0;
  std::size_t rows = std::numeric_limits<std::size_t>::max();
  bool json = false;
};

RegretReport measure_all(const Communicator& comm, const RegretSettings& settings, const tuning::Scope& scope) {
  const auto targets = tuning::sized_targets_of(scope, comm.size());
  Budget budget(comm, settings.budget);
  Progress progress("regret", targets.size(), comm.rank() == 0);
  RegretReport report{tuning::key_of(comm.topology())};
  for (std::size_t i = 0; i < targets.size() && report.left == 0; ++i) {
    progress.update(i, tuning::describe(targets[i]));
    if (!budget.has_room(tuning::expected_seconds(comm, targets[i], settings.effort)))
      report.left = targets.size() - i;
    else
      report.regrets.push_back(tuning::regret_of(comm, targets[i], settings.effort));
  }
  tuning::sort_worst_first(report.regrets);
  return report;
}

void run_regret(const RegretSettings& settings) {
  const tuning::Scope scope = scope_of(settings.words);
  // The choice of a program without a table, whatever the user has measured.
  ::setenv("TUTTI_TUNING", "off", 1);
  const Communicator comm = several_ranks("compare");
  const RegretReport report = measure_all(comm, settings, scope);
  print(settings.json ? regret_json(report) : regret_text(report, settings.rows));
}

}  // namespace

void add_regret(CLI::App& app) {
  const auto settings = std::make_shared<RegretSettings>();
  CLI::App* regret = app.add_subcommand(
      "regret",
      "Measures how much slower the choices without a table are than the fastest ways, on the ranks of this job\n"
      "(mpiexec -n 4 tutti regret). In each round the ways of a cell take turns. A ratio over 1.1 is measured again, "
      "by\n"
      "the chosen way and its nearest rivals alone. Writes no file.");
  add_scope_options(*regret, settings->words);
  add_effort_options(*regret, settings->effort, settings->budget);
  add_number(*regret, "--worst", settings->rows, {1, most_rows}, "show so many cells, the worst first (default: all)");
  add_flag(*regret, "--json", settings->json, "prints JSON: all cells with the times of all ways");
  regret->callback([settings] { run_regret(*settings); });
}

}  // namespace tutti::tools
