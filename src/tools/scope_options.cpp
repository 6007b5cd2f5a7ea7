// SPDX-License-Identifier: BSD-3-Clause
#include "tools/scope_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <tutti/collectives/bcast.hpp>

#include "common/command_line/options.hpp"
#include "planner/names.hpp"
#include "schedules/registry.hpp"
#include "tools/program.hpp"

namespace tutti::tools {
namespace {

namespace tuning = detail::tuning;
using namespace command_line;
using detail::CallKind;

[[noreturn]] void refuse(const char* option, const std::string& word, const std::vector<std::string>& valid) {
  throw UsageError(fmt::format("{}: there is no '{}'; valid: {}", option, word,
                               fmt::join(tuning::nearest_first(valid, word), ", ")));
}

std::vector<Operation> operations_of(const std::vector<std::string>& words) {
  if (words.empty()) return tuning::operations_by_importance();
  std::vector<std::string> valid;
  for (const Operation operation : all_operations) valid.emplace_back(operation_name(operation));
  std::vector<Operation> operations;
  for (const std::string& word : words) {
    Operation operation{};
    if (!tuning::find_operation(word, operation)) refuse("--operations", word, valid);
    operations.push_back(operation);
  }
  return operations;
}

std::vector<CallKind> calls_of(const std::vector<std::string>& words) {
  std::vector<CallKind> calls;
  for (const std::string& word : words) {
    CallKind kind{};
    if (!tuning::find_call_kind(word, kind)) refuse("--calls", word, {"blocking", "nonblocking", "persistent"});
    calls.push_back(kind);
  }
  return calls;
}

std::vector<Datatype> types_of(const std::vector<std::string>& words) {
  std::vector<std::string> valid;
  for (int kind = 1; kind < static_cast<int>(DatatypeKind::bytes); ++kind)
    valid.emplace_back(datatype_name(static_cast<DatatypeKind>(kind)));
  std::vector<Datatype> types;
  for (const std::string& word : words) {
    const auto found = std::find(valid.begin(), valid.end(), word);
    if (found == valid.end()) refuse("--types", word, valid);
    types.emplace_back(static_cast<DatatypeKind>(found - valid.begin() + 1));
  }
  return types;
}

}  // namespace

void add_scope_options(CLI::App& app, ScopeWords& words) {
  constexpr std::size_t most_size = std::size_t{1} << 40U;
  add_words(app, "--operations", words.operations, "operations, joined by commas (default: all)");
  add_words(app, "--calls", words.calls, "kinds of calls: blocking,nonblocking,persistent");
  add_words(app, "--types", words.types, "datatypes for the operations that combine");
  add_bytes_list(app, "--sizes", words.sizes.sizes, {1, most_size},
                 "sizes (4,64K,1M), instead of --smallest, --largest, --factor");
  add_bytes(app, "--smallest", words.sizes.smallest, {1, most_size}, "smallest size");
  add_bytes(app, "--largest", words.sizes.largest, {1, most_size}, "largest size of a whole vector or of all blocks");
  add_number(app, "--factor", words.sizes.factor, {2, 16}, "ratio of successive sizes");
}

void add_effort_options(CLI::App& app, tuning::Effort& effort, double& budget) {
  add_number(app, "--rounds", effort.rounds, {1, 999}, "number of rounds; a figure is their median");
  add_number(
      app, "--budget", budget, {0, 1e9, true},
      "time in which to measure, in seconds; cells that do not fit are left for another run (default: no limit)");
  add_flag(app, "--in-a-row", effort.in_a_row,
           "make calls one after the other, so that roots run ahead; else all ranks meet before each call");
}

tuning::Scope scope_of(const ScopeWords& words) {
  tuning::Scope scope = words.sizes;
  scope.operations = operations_of(words.operations);
  scope.kinds = calls_of(words.calls);
  scope.types = types_of(words.types);
  return scope;
}

Communicator several_ranks(std::string_view subcommand) {
  if (world_size() == 1)
    throw UsageError(fmt::format(
        "one rank has nothing to {}; run this command under mpiexec, with as many ranks as your program", subcommand));
  return Communicator::duplicate(MPI_COMM_WORLD);
}

bool Budget::has_room(double expected) {
  if (seconds_ <= 0) return true;
  const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double pace = begun_ > 0 ? std::max(1.0, spent / begun_) : 1;
  std::uint8_t fits = spent + pace * expected <= seconds_ ? 1 : 0;
  bcast(comm_, Buffer(&fits, 1), 0);
  if (fits != 0) begun_ += expected;
  return fits != 0;
}

}  // namespace tutti::tools
