// SPDX-License-Identifier: BSD-3-Clause
// What each constant of the cost model and each way to make a call earns, by times that were measured before:
//   mpiexec -n 2 tutti regret --json > measured.json
//   mpiexec -n 2 tutti_ablation measured.json
// A constant that is taken away has its prior, or the value of the constant it refines. A way that is taken away leaves
// its calls to the next one by prediction. Each row says by how much the geometric mean of all cells rises then, how
// many cells change by more than 3 %, and the one that loses most.
#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/datatype.hpp>
#include <vector>

#include "call/context.hpp"
#include "planner/candidates.hpp"
#include "planner/names.hpp"
#include "tools/search.hpp"
#include "topology/columns.hpp"

namespace tutti::detail::tuning {
namespace {

using Seconds = std::map<std::string, double>;

/// A call whose ways were measured.
struct Cell {
  Target target{};
  Signature signature{};
  Seconds seconds{};
};

struct Change {
  std::string name;
  std::function<void(Costs&)> apply = [](Costs&) {};
  std::string way{};  ///< that is taken away
  std::string operation{};
};

Datatype type_named(const std::string& name) {
  for (const auto kind : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float64})
    if (datatype_name(kind) == name) return kind;
  return DatatypeOf<std::byte>::value;
}

Cell cell_of(const nlohmann::json& entry) {
  Cell cell;
  if (!find_operation(entry.at("operation").get<std::string>(), cell.target.operation) ||
      !find_call_kind(entry.at("kind").get<std::string>(), cell.target.kind))
    throw std::runtime_error("a cell of another version: " + entry.dump());
  cell.target.type = type_named(entry.value("type", std::string()));
  cell.target.bytes = entry.at("bytes").get<std::size_t>();
  Target planned = cell.target;
  if (has_hidden_size(planned.operation)) planned.bytes = 0;
  cell.signature = signature_of(planned);
  cell.seconds = entry.at("seconds").get<Seconds>();
  return cell;
}

std::vector<Cell> cells_in(const char* path) {
  std::ifstream file(path);
  const nlohmann::json document = nlohmann::json::parse(file);
  std::vector<Cell> cells;
  for (const auto& entry : document.at("cells")) cells.push_back(cell_of(entry));
  return cells;
}

/// The measured time of the choice, or 0 where none of the choices was measured.
double seconds_of_choice(const Cell& cell, const Machine& machine, const Change& change) {
  const bool is_meant = change.operation.empty() || operation_name(cell.target.operation) == change.operation;
  for (const Candidate& candidate : candidates(cell.signature, machine)) {
    if (!candidate.can_be_chosen() || (is_meant && candidate.name == change.way)) continue;
    const auto found = cell.seconds.find(candidate.name);
    if (found != cell.seconds.end()) return found->second;
  }
  return 0;
}

std::vector<double> choices(const std::vector<Cell>& cells, Machine machine, const Change& change) {
  change.apply(machine.costs);
  std::vector<double> seconds;
  for (const Cell& cell : cells) seconds.push_back(seconds_of_choice(cell, machine, change));
  return seconds;
}

std::vector<std::string> row_of(const std::vector<Cell>& cells, const std::vector<double>& before,
                                const std::vector<double>& after, const Change& change) {
  double logs = 0;
  int slower = 0;
  int faster = 0;
  double worst = 1;
  std::string where = "-";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (before[i] == 0 || after[i] == 0) continue;
    const double ratio = after[i] / before[i];
    logs += std::log(ratio);
    slower += ratio > 1.03 ? 1 : 0;
    faster += ratio < 1 / 1.03 ? 1 : 0;
    if (ratio <= worst) continue;
    worst = ratio;
    where = describe(cells[i].target);
  }
  const double mean = std::exp(logs / static_cast<double>(cells.size()));
  return {change.name,
          fmt::format("{:+.2f} %", 100 * (mean - 1)),
          fmt::format("{}", slower),
          fmt::format("{}", faster),
          fmt::format("{:.2f}", worst),
          where};
}

/// Each constant by its prior, and those which refine another by that one's value.
std::vector<Change> changes_of_costs() {
  std::vector<Change> changes;
  for (const NamedCost& cost : named_costs)
    changes.push_back({fmt::format("{}: prior", cost.name),
                       [value = cost.value](Costs& costs) { costs.*value = typical_costs.*value; }});
  const auto as = [&](const char* name, std::vector<std::pair<double Costs::*, double Costs::*>> pairs) {
    changes.push_back({name, [pairs](Costs& costs) {
                         for (const auto& [one, other] : pairs) costs.*one = costs.*other;
                       }});
  };
  as("stream as slot", {{&Costs::stream_write, &Costs::slot_write}, {&Costs::stream_read, &Costs::slot_read}});
  as("wide as stream", {{&Costs::wide_write, &Costs::stream_write}, {&Costs::wide_read, &Costs::stream_read}});
  as("slot as stream", {{&Costs::slot_write, &Costs::stream_write}, {&Costs::slot_read, &Costs::stream_read}});
  as("combine_narrow as combine", {{&Costs::combine_narrow, &Costs::combine}});
  as("far_copy as copy", {{&Costs::far_copy, &Costs::copy}});
  as("kernel far as near",
     {{&Costs::kernel_far_byte, &Costs::kernel_byte}, {&Costs::kernel_busy_far_byte, &Costs::kernel_busy_byte}});
  as("kernel busy as lone", {{&Costs::kernel_busy_call, &Costs::kernel_call},
                             {&Costs::kernel_busy_byte, &Costs::kernel_byte},
                             {&Costs::kernel_busy_far_byte, &Costs::kernel_far_byte}});
  as("kernel lone as busy", {{&Costs::kernel_call, &Costs::kernel_busy_call},
                             {&Costs::kernel_byte, &Costs::kernel_busy_byte},
                             {&Costs::kernel_far_byte, &Costs::kernel_busy_far_byte}});
  as("kernel_cold as busy_far", {{&Costs::kernel_cold_byte, &Costs::kernel_busy_far_byte}});
  as("message_short as message_byte", {{&Costs::message_short_byte, &Costs::message_byte}});
  as("message_gap as message", {{&Costs::message_gap, &Costs::message}});
  as("no cache_part", {});
  changes.back().apply = [](Costs& costs) { costs.cache_part = 0; };
  as("all: prior", {});
  changes.back().apply = [](Costs& costs) { costs = Costs{}; };
  return changes;
}

/// Each way that is chosen anywhere, in all operations and in each one.
std::vector<Change> changes_of_ways(const std::vector<Cell>& cells, const Machine& machine) {
  std::map<std::string, std::set<std::string>> chosen;
  for (const Cell& cell : cells)
    chosen[candidates(cell.signature, machine).front().name].emplace(operation_name(cell.target.operation));
  std::vector<Change> changes;
  for (const auto& [way, operations] : chosen) {
    changes.push_back({way, [](Costs&) {}, way});
    for (const std::string& operation : operations)
      changes.push_back({fmt::format("  {} in {}", way, operation), [](Costs&) {}, way, operation});
  }
  return changes;
}

double regret_of(const std::vector<Cell>& cells, const std::vector<double>& chosen) {
  double logs = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double best = HUGE_VAL;
    for (const auto& [way, seconds] : cells[i].seconds) best = std::min(best, seconds);
    if (chosen[i] > 0) logs += std::log(chosen[i] / best);
  }
  return std::exp(logs / static_cast<double>(cells.size()));
}

void print_table(const std::vector<Cell>& cells, const Machine& machine, const std::vector<Change>& changes) {
  const std::vector<double> before = choices(cells, machine, {"nothing"});
  TextRows rows = {{"without", "mean", "slower", "faster", "worst", "in"}};
  for (const Change& change : changes) rows.push_back(row_of(cells, before, choices(cells, machine, change), change));
  std::fputs((in_columns(rows) + "\n").c_str(), stdout);
}

void print_all(const Communicator& comm, const char* path) {
  const std::vector<Cell> cells = cells_in(path);
  Machine machine = comm.state()->machine();
  machine.measured = nullptr;
  std::printf("%zu cells on %d ranks, regret of the choices %.3f\n\n", cells.size(), comm.size(),
              regret_of(cells, choices(cells, machine, {"nothing"})));
  print_table(cells, machine, changes_of_costs());
  print_table(cells, machine, changes_of_ways(cells, machine));
}

}  // namespace
}  // namespace tutti::detail::tuning

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    if (argc == 2 && comm.rank() == 0) tutti::detail::tuning::print_all(comm, argv[1]);
  }
  MPI_Finalize();
}
