// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "tools/search.hpp"
#include "tools/targets.hpp"

/// Shared by the subcommands that measure calls on the ranks of a job.
namespace tutti::tools {

/// The calls to measure, as the command line names them.
struct ScopeWords {
  std::vector<std::string> operations;  ///< empty: all
  std::vector<std::string> calls{"blocking", "nonblocking", "persistent"};
  std::vector<std::string> types{"float32", "bfloat16"};
  detail::tuning::Scope sizes;
};

void add_scope_options(CLI::App& app, ScopeWords& words);
void add_effort_options(CLI::App& app, detail::tuning::Effort& effort, double& budget);

/// Throws UsageError, which lists the valid words, the most similar first.
[[nodiscard]] detail::tuning::Scope scope_of(const ScopeWords& words);

/// All ranks of the job. Throws UsageError, which names the subcommand, if there is only one. Collective.
[[nodiscard]] Communicator several_ranks(std::string_view subcommand);

/// A time for measuring. Rank 0's clock decides for all.
class Budget {
 public:
  /// The time begins now; 0 is without limit. The communicator must outlive the budget.
  Budget(const Communicator& comm, double seconds) : comm_(comm), seconds_(seconds) {}

  /// Whether work that is expected to take so many seconds ends in time, if it goes on at the pace of the work so far.
  /// Collective.
  [[nodiscard]] bool has_room(double expected);

 private:
  using Clock = std::chrono::steady_clock;
  const Communicator& comm_;
  double seconds_;
  Clock::time_point begin_ = Clock::now();
  double begun_ = 0;  ///< expected seconds of all work that was let in
};

}  // namespace tutti::tools
