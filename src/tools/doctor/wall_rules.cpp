// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "tools/doctor/rules.hpp"

namespace tutti::tools::doctor {
namespace {

bool is_refused_by_yama(const RankFacts& facts) { return facts.walls.ptrace_scope > 0 && !facts.walls.may_trace; }

bool has_several_ranks_on_a_node(const Job& job) {
  return std::ranges::any_of(job.topology.ranks_per_node, [](int ranks) { return ranks > 1; });
}

/// Whether ranks could copy if nothing forbade it, but do not.
bool lacks_copies(const Job& job) {
  return job.made.is_made && job.size() > 1 && job.made.shared_memory && !job.made.single_copy;
}

/// The number of different values of a wall on the first node that has several.
template <typename Member>
std::optional<std::vector<int>> divided_node(const Job& job, Member Walls::*wall) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    std::set<Member> seen;
    for (const int rank : ranks) seen.insert(facts_of(job, rank).walls.*wall);
    if (seen.size() > 1) return ranks;
  }
  return std::nullopt;
}

std::optional<Finding> yama(const Job& job) {
  const auto ranks = ranks_where(job, is_refused_by_yama);
  if (ranks.empty() || job.made.single_copy) return std::nullopt;
  return Finding{Severity::slow, "ptrace",
                 fmt::format("Yama forbids copies between processes to {} (ptrace_scope is {}): large messages go "
                             "through slots",
                             ranks_text(ranks, job.size()), facts_of(job, ranks.front()).walls.ptrace_scope),
                 "sysctl kernel.yama.ptrace_scope=0, or give the programs CAP_SYS_PTRACE, or install XPMEM"};
}

std::optional<Finding> several_users(const Job& job) {
  const auto node = divided_node(job, &Walls::user);
  if (!node) return std::nullopt;
  return Finding{Severity::slow, "users",
                 fmt::format("the ranks of {} run as different users, who may not share memory", node_text(job, *node)),
                 "start all ranks as one user"};
}

std::optional<Finding> several_containers(const Job& job) {
  const auto processes = divided_node(job, &Walls::processes);
  const auto ipc = divided_node(job, &Walls::ipc);
  if (!processes && !ipc) return std::nullopt;
  return Finding{Severity::slow, "containers",
                 fmt::format("the ranks of {} are in different {} namespaces: {}",
                             node_text(job, processes ? *processes : *ipc), processes ? "PID" : "IPC",
                             processes ? "no rank can copy from another's memory" : "they may not share memory"),
                 "start all ranks of a node in one container, or let containers share: --pid=host --ipc=host"};
}

std::optional<Finding> copies_off(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) { return is_off(facts, "TUTTI_SINGLE_COPY"); });
  if (ranks.empty()) return std::nullopt;
  return Finding{
      Severity::slow, "copies-off",
      fmt::format("TUTTI_SINGLE_COPY=0 on {}: large messages go through slots", ranks_text(ranks, job.size())),
      "unset TUTTI_SINGLE_COPY"};
}

/// Copies that are refused for a reason that no other rule names.
std::optional<Finding> copies_refused(const Job& job) {
  if (!lacks_copies(job) || !has_several_ranks_on_a_node(job)) return std::nullopt;
  for (const Rule other : {yama, several_users, several_containers, copies_off})
    if (other(job)) return std::nullopt;
  const bool is_filtered =
      std::ranges::any_of(job.ranks, [](const RankFacts& facts) { return facts.walls.seccomp == 2; });
  return Finding{Severity::slow, "copies",
                 fmt::format("ranks cannot copy from each other's memory: {}{}", job.made.shm_report,
                             is_filtered ? " (a seccomp filter is at work)" : ""),
                 is_filtered ? "let the container call process_vm_readv: docker run --cap-add SYS_PTRACE, or another "
                               "seccomp profile"
                             : "give the programs CAP_SYS_PTRACE, or install XPMEM"};
}

}  // namespace

std::span<const Rule> wall_rules() {
  static constexpr std::array<Rule, 5> all = {yama, several_users, several_containers, copies_off, copies_refused};
  return all;
}

}  // namespace tutti::tools::doctor
