// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>
#include <tutti/environment.hpp>

#include "tools/doctor/rules.hpp"

namespace tutti::tools::doctor {
namespace {

std::optional<Finding> foreign_launcher(const Job& job) {
  const ForeignLauncher& launcher = job.launcher;
  if (launcher.name.empty()) return std::nullopt;
  return Finding{Severity::error, "launcher",
                 fmt::format("{} started {} processes ({}={}), but each is a job of 1 rank, because the MPI library is "
                             "another: {}",
                             launcher.name, launcher.processes, launcher.variable, launcher.processes, job.mpi),
                 "start programs with the launcher of that MPI library (MPICH: mpiexec.mpich)"};
}

std::optional<Finding> one_rank(const Job& job) {
  if (job.size() != 1 || !job.launcher.name.empty()) return std::nullopt;
  return Finding{Severity::note, "one-rank", "one rank: no path between ranks can be tested",
                 "run it as your programs run: mpiexec -n 4 tutti doctor"};
}

std::optional<Finding> communicator(const Job& job) {
  if (job.made.is_made) return std::nullopt;
  return Finding{Severity::error, "communicator", "no communicator can be made: " + job.made.problem,
                 "do what the text says; every program with these ranks ends so"};
}

std::optional<Finding> unknown_variables(const Job& job) {
  std::set<std::string> doubts;
  for (const RankFacts& facts : job.ranks) doubts.insert(facts.doubts.begin(), facts.doubts.end());
  if (doubts.empty()) return std::nullopt;
  return Finding{Severity::note, "variables", fmt::format("{}", fmt::join(doubts, "; ")),
                 "correct the name, or unset it; tutti info lists all variables"};
}

/// "TUTTI_SHM (rank 1: 0, rank 0: unset)".
std::string difference_in(const Job& job, const std::string& name) {
  const auto value_of = [&](int rank) {
    const auto& variables = facts_of(job, rank).variables;
    const auto found = variables.find(name);
    return found == variables.end() ? std::string("unset") : found->second;
  };
  const std::string first = value_of(0);
  for (int rank = 1; rank < job.size(); ++rank)
    if (value_of(rank) != first) return fmt::format("{} (rank 0: {}, rank {}: {})", name, first, rank, value_of(rank));
  return {};
}

std::optional<Finding> different_variables(const Job& job) {
  std::set<std::string> names;
  for (const RankFacts& facts : job.ranks)
    for (const auto& [name, value] : facts.variables) names.insert(name);
  std::vector<std::string> differences;
  for (const std::string& name : names)
    if (std::string text = difference_in(job, name); !text.empty()) differences.push_back(std::move(text));
  if (differences.empty()) return std::nullopt;
  return Finding{Severity::note, "variables-differ",
                 fmt::format("variables differ between ranks: {}", fmt::join(differences, "; ")),
                 "pass them to all ranks (mpiexec -genv NAME VALUE); no communicator is made where ranks must agree"};
}

std::optional<Finding> thread_level(const Job& job) {
  constexpr std::array names = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                "MPI_THREAD_MULTIPLE"};
  constexpr int multiple = static_cast<int>(ThreadLevel::multiple);
  const auto ranks = ranks_where(job, [](const RankFacts& facts) {
    return is_on(facts, "TUTTI_PROGRESS_THREAD") && facts.thread_level < multiple;
  });
  if (ranks.empty()) return std::nullopt;
  const auto level = static_cast<std::size_t>(facts_of(job, ranks.front()).thread_level);
  return Finding{Severity::error, "threads",
                 fmt::format("TUTTI_PROGRESS_THREAD=1 needs MPI_THREAD_MULTIPLE, but the MPI gives {} to {}",
                             names.at(level), ranks_text(ranks, job.size())),
                 "unset the variable, or use an MPI that was built with threads"};
}

std::optional<Finding> thread_without_core(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    const int cores = job.topology.cores_per_node[static_cast<std::size_t>(
        job.topology.places[static_cast<std::size_t>(ranks.front())].node)];
    const int count = static_cast<int>(ranks.size());
    if (!is_on(facts_of(job, ranks.front()), "TUTTI_PROGRESS_THREAD") || 2 * count <= cores) continue;
    return Finding{Severity::slow, "thread-cores",
                   fmt::format("{} ranks and as many progress threads share {} processing units on {}", count, cores,
                               node_text(job, ranks)),
                   "start at most half as many ranks as processing units, or unset TUTTI_PROGRESS_THREAD"};
  }
  return std::nullopt;
}

std::optional<Finding> network_groups(const Job& job) {
  const std::vector<std::string> problems = network_problems(job.network);
  if (problems.empty()) return std::nullopt;
  return Finding{Severity::note, "network-groups",
                 fmt::format("what names the groups of the network is left out: {}", fmt::join(problems, "; ")),
                 "correct it, name a file in TUTTI_NETWORK, or set that to off; tutti topo shows the groups"};
}

}  // namespace

std::span<const Rule> job_rules() {
  static constexpr std::array<Rule, 8> all = {foreign_launcher,    one_rank,     communicator,        unknown_variables,
                                              different_variables, thread_level, thread_without_core, network_groups};
  return all;
}

}  // namespace tutti::tools::doctor
