// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "common/command_line/options.hpp"
#include "common/command_line/progress.hpp"
#include "planner/files.hpp"
#include "tools/program.hpp"
#include "tools/scope_options.hpp"
#include "tools/search.hpp"
#include "tools/table_file.hpp"
#include "tools/tune_links.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

namespace tuning = detail::tuning;
using namespace command_line;

struct TuneSettings {
  std::string output;
  ScopeWords words;
  tuning::Effort effort;
  double budget = 0;
  bool restart = false;
  bool accepts_disturbed = false;
  bool links = false;
};

/// The outcome of a run.
struct Outcome {
  std::size_t measured = 0;
  std::size_t taken_over = 0;
  std::size_t left = 0;
  std::size_t disturbed = 0;    ///< left out, because their figures do not show the fastest
  std::size_t same_choice = 0;  ///< the untuned choice is the fastest, or within 5 % of it
  double log_gain = 0;          ///< over the other cells, the sum of log(untuned seconds / fastest seconds)
  detail::TextRows gains{};
};

/// A cell to measure.
struct Task {
  tuning::Target target{};
  std::string untuned{};  ///< the choice without a table
  double expected = 0;    ///< seconds that measuring takes
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
  outcome.gains.push_back({tuning::describe(target), best->first, fmt::format("{:.2f}", best->second * 1e6), untuned,
                           fmt::format("{:.2f}", chosen->second * 1e6)});
}

bool covers(const tuning::Cell& cell, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (cell.seconds.find(name) == cell.seconds.end()) return false;
  return true;
}

/// The cells of a scope that the file does not have.
std::vector<Task> tasks_of(const Communicator& comm, const TuneSettings& settings, const tuning::Scope& scope,
                           const TableFile& file, Outcome& outcome) {
  std::vector<Task> tasks;
  for (const tuning::Target& target : tuning::targets_of(scope, comm.size())) {
    const auto names = tuning::candidates_for(comm, target);
    if (names.empty()) continue;
    if (const tuning::Cell* known = file.find(tuning::place_of(target)); known != nullptr && covers(*known, names)) {
      ++outcome.taken_over;
      continue;
    }
    tasks.push_back({target, names.front(), tuning::expected_seconds(comm, target, settings.effort)});
  }
  return tasks;
}

void announce(const std::vector<Task>& tasks, const TuneSettings& settings) {
  double expected = 0;
  for (const Task& task : tasks) expected += task.expected;
  std::string text = fmt::format("tutti: {} cells to measure, about {} on an idle machine", tasks.size(),
                                 command_line::seconds_text(expected));
  if (settings.budget > 0 && settings.budget < expected)
    text += fmt::format("; --budget ends after {}, and the next run continues",
                        command_line::seconds_text(settings.budget));
  if (is_root()) fmt::print(stderr, "{}\n", text);
}

/// Measures tasks while there is time, and puts what shows the fastest into the file. Returns the disturbed tasks.
std::vector<Task> measure_all(const Communicator& comm, const TuneSettings& settings, const std::vector<Task>& tasks,
                              Budget& budget, TableFile& file, Outcome& outcome) {
  Progress progress("tune", tasks.size(), is_root());
  std::vector<Task> disturbed;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (!budget.has_room(task.expected)) {
      ++outcome.left;
      continue;
    }
    progress.update(i, tuning::describe(task.target));
    tuning::Measurement measurement = tuning::measure(comm, task.target, settings.effort);
    if (measurement.is_disturbed && !settings.accepts_disturbed) {
      disturbed.push_back(task);
      continue;
    }
    compare(outcome, task.target, measurement.cell, task.untuned);
    file.put(std::move(measurement.cell));
    ++outcome.measured;
  }
  return disturbed;
}

/// A target that other work disturbed is measured once more at the end, and left out if that does not help: programs
/// without a figure choose by prediction, but with a wrong one they follow it.
Outcome search(const Communicator& comm, const TuneSettings& settings, const tuning::Scope& scope, TableFile& file) {
  Outcome outcome;
  const std::vector<Task> tasks = tasks_of(comm, settings, scope, file, outcome);
  announce(tasks, settings);
  Budget budget(comm, settings.budget);
  const std::vector<Task> again = measure_all(comm, settings, tasks, budget, file, outcome);
  const std::size_t left = outcome.left;
  outcome.disturbed = measure_all(comm, settings, again, budget, file, outcome).size() + (outcome.left - left);
  outcome.left = left;
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
        "{} cells were left out, because other work on this machine disturbed their figures twice: run tune again when "
        "the machine is idle, or pass --accept-disturbed\n",
        outcome.disturbed);
  if (lists_gains && !outcome.gains.empty()) {
    detail::TextRows rows = {{"cell", "fastest", "us", "untuned", "us"}};
    rows.insert(rows.end(), outcome.gains.begin(), outcome.gains.end());
    text += detail::in_columns(rows);
  }
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
  if (settings.links) return print(tune_links(comm, file) + fmt::format("wrote {}\n", path));
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
  add_text(*tune, "--output", settings->output, "FILE",
           "file to write or to continue (default: TUTTI_TUNING, else ~/.cache/tutti/tuning.json)");
  add_scope_options(*tune, settings->words);
  add_effort_options(*tune, settings->effort, settings->budget);
  add_flag(*tune, "--restart", settings->restart, "measure again what the file has, and replace it if it is damaged");
  add_flag(*tune, "--accept-disturbed", settings->accepts_disturbed,
           "also write figures of cells that other work on the machine disturbed");
  add_flag(
      *tune, "--links", settings->links,
      "measure messages instead, between ranks of a core, cache, NUMA domain, socket and node and over the network, "
      "by which programs predict what the table has not measured");
  add_flag(*tune, "--gains", *lists_gains, "list the cells where the untuned choice is not the fastest");
  tune->callback([settings, lists_gains] { run_tune(*settings, *lists_gains); });
}

}  // namespace tutti::tools
