// SPDX-License-Identifier: BSD-3-Clause
#include "tools/scope_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <tutti/collectives/bcast.hpp>

#include "planner/names.hpp"
#include "schedules/registry.hpp"
#include "tools/program.hpp"

namespace tutti::tools {
namespace {

namespace tuning = detail::tuning;
using detail::CallKind;
using detail::Operation;

[[noreturn]] void refuse(const char* option, const std::string& word, const std::vector<std::string>& valid) {
  throw UsageError(fmt::format("{}: there is no '{}'; valid: {}", option, word,
                               fmt::join(tuning::nearest_first(valid, word), ", ")));
}

std::vector<Operation> operations_of(const std::vector<std::string>& words) {
  if (words.empty()) return tuning::operations_by_importance();
  std::vector<std::string> valid;
  for (const Operation operation : tuning::all_operations()) valid.emplace_back(schedules::operation_name(operation));
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
  app.add_option("--operations", words.operations, "operations, joined by commas (default: all)")->delimiter(',');
  app.add_option("--calls", words.calls, "kinds of calls: blocking,nonblocking,persistent")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--types", words.types, "datatypes for the operations that combine")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--sizes", words.sizes.sizes, "sizes, in bytes (4,64K,1M), instead of --smallest, --largest, --factor")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40U));
  app.add_option("--smallest", words.sizes.smallest, "smallest size, in bytes (4, 64K, 1M)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40U))
      ->capture_default_str();
  app.add_option("--largest", words.sizes.largest, "largest size of a whole vector or of all blocks")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40U))
      ->capture_default_str();
  app.add_option("--factor", words.sizes.factor, "ratio of successive sizes")
      ->check(CLI::Range(2, 16))
      ->capture_default_str();
}

void add_effort_options(CLI::App& app, tuning::Effort& effort, double& budget) {
  app.add_option("--rounds", effort.rounds, "number of rounds; a figure is their median")
      ->check(CLI::Range(1, 999))
      ->capture_default_str();
  app.add_option("--budget", budget, "time after which no new cell is started, in seconds (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--in-a-row", effort.in_a_row,
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

bool Budget::is_spent() const {
  if (seconds_ <= 0) return false;
  std::uint8_t spent = std::chrono::duration<double>(Clock::now() - begin_).count() >= seconds_ ? 1 : 0;
  bcast(comm_, Buffer(&spent, 1), 0);
  return spent != 0;
}

}  // namespace tutti::tools
