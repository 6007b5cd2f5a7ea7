// SPDX-License-Identifier: BSD-3-Clause
#include "tools/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/show/progress.hpp"
#include "planner/files.hpp"
#include "tools/program.hpp"
#include "tools/scope_options.hpp"
#include "tools/search.hpp"
#include "tools/table_file.hpp"

namespace tutti::tools {
namespace {

namespace tuning = detail::tuning;

struct TuneSettings {
  std::string output;
  ScopeWords words;
  tuning::Effort effort;
  double budget = 0;
  bool restart = false;
};

/// The outcome of a run.
struct Outcome {
  std::size_t measured = 0;
  std::size_t taken_over = 0;
  std::size_t left = 0;
  std::size_t disturbed = 0;
  std::size_t same_choice = 0;  ///< the untuned choice is the fastest, or within 5 % of it
  double log_gain = 0;          ///< over the other cells, the sum of log(untuned seconds / fastest seconds)
  std::vector<std::string> gains{};
};

std::string output_of(const TuneSettings& settings) {
  if (!settings.output.empty()) return settings.output;
  const char* named = std::getenv("TUTTI_TUNING");
  if (named != nullptr && *named != '\0' && std::string_view(named) != "off") return named;
  const auto path = tuning::cache_file();
  if (path.empty())
    throw UsageError("there is no cache folder (neither XDG_CACHE_HOME nor HOME is set); pass --output");
  return path.string();
}

void compare(Outcome& outcome, const tuning::Target& target, const tuning::Cell& cell, const std::string& untuned) {
  const auto chosen = cell.seconds.find(untuned);
  if (chosen == cell.seconds.end()) return;
  auto best = cell.seconds.begin();
  for (auto it = cell.seconds.begin(); it != cell.seconds.end(); ++it)
    if (it->second < best->second) best = it;
  const double gain = chosen->second / best->second;
  if (gain <= 1.05) {
    ++outcome.same_choice;
    return;
  }
  outcome.log_gain += std::log(gain);
  outcome.gains.push_back(fmt::format("  {:<44} {:<24} {:>10.2f} us, untuned {} {:.2f} us", tuning::describe(target),
                                      best->first, best->second * 1e6, untuned, chosen->second * 1e6));
}

bool covers(const tuning::Cell& cell, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (cell.seconds.find(name) == cell.seconds.end()) return false;
  return true;
}

Outcome search(const Communicator& comm, const TuneSettings& settings, const tuning::Scope& scope, TableFile& file) {
  const auto targets = tuning::targets_of(scope, comm.size());
  const Budget budget(comm, settings.budget);
  show::Progress progress("tune", targets.size(), comm.rank() == 0);
  Outcome outcome;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const tuning::Target& target = targets[i];
    const auto names = tuning::candidates_for(comm, target);
    if (names.empty()) continue;
    const tuning::Cell place = tuning::place_of(target);
    if (const tuning::Cell* known = file.find(place); known != nullptr && covers(*known, names)) {
      ++outcome.taken_over;
      continue;
    }
    if (budget.is_spent()) {
      ++outcome.left;
      continue;
    }
    progress.update(i, tuning::describe(target));
    tuning::Measurement measurement = tuning::measure(comm, target, settings.effort);
    if (measurement.is_disturbed) ++outcome.disturbed;
    compare(outcome, target, measurement.cell, names.front());
    file.put(std::move(measurement.cell));
    ++outcome.measured;
  }
  return outcome;
}

void report(const Outcome& outcome, const std::string& path, bool lists_gains) {
  std::string text = fmt::format("{} cells measured, {} taken over, {} left; wrote {}\n", outcome.measured,
                                 outcome.taken_over, outcome.left, path);
  if (outcome.measured > 0)
    text += fmt::format("the untuned choice is the fastest, or within 5 % of it, in {} of {} cells",
                        outcome.same_choice, outcome.measured);
  if (!outcome.gains.empty())
    text += fmt::format("; in the others the fastest takes 1/{:.2f} of its time (geometric mean)",
                        std::exp(outcome.log_gain / static_cast<double>(outcome.gains.size())));
  if (outcome.measured > 0) text += "\n";
  if (outcome.disturbed > 0)
    text += fmt::format(
        "in {} of {} cells the figures vary widely: is the machine running other work? --restart measures again\n",
        outcome.disturbed, outcome.measured);
  if (lists_gains && !outcome.gains.empty()) text += fmt::format("{}\n", fmt::join(outcome.gains, "\n"));
  if (outcome.left > 0) text += "run it again to continue\n";
  print(text);
}

void run_tune(const TuneSettings& settings, bool lists_gains) {
  const tuning::Scope scope = scope_of(settings.words);
  const std::string path = output_of(settings);
  // Ignore the table that is about to be written, and one that does not fit.
  ::setenv("TUTTI_TUNING", "off", 1);
  const Communicator comm = several_ranks("tune");
  TableFile file(comm, path, settings.restart);
  report(search(comm, settings, scope, file), path, lists_gains);
}

}  // namespace

void add_tune(CLI::App& app) {
  auto settings = std::make_shared<TuneSettings>();
  auto lists_gains = std::make_shared<bool>(false);
  CLI::App* tune = app.add_subcommand(
      "tune",
      "Measures every way to make each call, on the ranks of this job (mpiexec -n 4 tutti tune), and writes a table\n"
      "that all programs with as many ranks on such a machine use from then on. Stop it at any time: it goes on where\n"
      "it stopped.");
  tune->add_option("--output", settings->output,
                   "file to write or to continue (default: TUTTI_TUNING, else ~/.cache/tutti/tuning.json)");
  add_scope_options(*tune, settings->words);
  add_effort_options(*tune, settings->effort, settings->budget);
  tune->add_flag("--restart", settings->restart, "measure again what the file has, and replace it if it is damaged");
  tune->add_flag("--gains", *lists_gains, "list the cells where the untuned choice is not the fastest");
  tune->callback([settings, lists_gains] { run_tune(*settings, *lists_gains); });
}

}  // namespace tutti::tools
