// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tools/doctor/rules.hpp"

namespace tutti::tools::doctor {
namespace {

using detail::ElementKind;

const Place& place_of(const Job& job, int rank) { return job.topology.places[static_cast<std::size_t>(rank)]; }

int units_of(const Job& job, const std::vector<int>& ranks) {
  return job.topology.cores_per_node[static_cast<std::size_t>(place_of(job, ranks.front()).node)];
}

std::set<int> cores_of(const Job& job, const std::vector<int>& ranks) {
  std::set<int> cores;
  for (const int rank : ranks) {
    const auto& own = facts_of(job, rank).processor.cores;
    cores.insert(own.begin(), own.end());
  }
  return cores;
}

/// The cores of a node that no rank may use.
int idle_cores(const Job& job, const std::vector<int>& ranks) {
  return count_on_node(job, ranks.front(), ElementKind::core) - static_cast<int>(cores_of(job, ranks).size());
}

/// The ranks that are bound to one core or one processing unit of it, by core.
std::map<int, std::vector<int>> bound_ranks(const Job& job, const std::vector<int>& ranks) {
  std::map<int, std::vector<int>> bound;
  for (const int rank : ranks) {
    const auto& cores = facts_of(job, rank).processor.cores;
    if (!cores.empty() && std::ranges::count(cores, cores.front()) == static_cast<std::ptrdiff_t>(cores.size()))
      bound[cores.front()].push_back(rank);
  }
  return bound;
}

bool share_units(const Job& job, const std::vector<int>& ranks) {
  std::set<int> seen;
  for (const int rank : ranks)
    for (const int unit : facts_of(job, rank).processor.units)
      if (!seen.insert(unit).second) return true;
  return false;
}

std::optional<Finding> oversubscribed(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    const int units = units_of(job, ranks);
    if (static_cast<int>(ranks.size()) <= units) continue;
    const int idle = idle_cores(job, ranks);
    return Finding{Severity::slow, "oversubscribed",
                   fmt::format("{} ranks share {} processing unit{} on {}: every step waits for a switch of processes",
                               ranks.size(), units, units == 1 ? "" : "s", node_text(job, ranks)),
                   idle > 0 ? fmt::format("let the ranks use the node's other {} cores too (binding, cpuset, "
                                          "--cpus-per-task), or start at most {} ranks",
                                          idle, units)
                            : fmt::format("start at most {} ranks per node", units)};
  }
  if (!job.topology.oversubscribed) return std::nullopt;
  return Finding{Severity::slow, "oversubscribed",
                 "nodes that are one machine have more ranks together than processing units: every step waits for a "
                 "switch of processes",
                 "start fewer ranks, or give each of these nodes (containers, MPIR_CVAR_NUM_CLIQUES) units of its own"};
}

std::optional<Finding> quota(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    const double cores = facts_of(job, ranks.front()).limits.group_cores;
    if (cores == 0 || cores >= static_cast<double>(ranks.size())) continue;
    return Finding{Severity::slow, "cpu-quota",
                   fmt::format("the control group of {} gives {:.3g} cores of time to {} ranks, which spin while they "
                               "wait",
                               node_text(job, ranks), cores, ranks.size()),
                   "raise the quota (docker run --cpus, cpu.max), or start fewer ranks"};
  }
  return std::nullopt;
}

/// Two ranks on one core while other cores have none. Oversubscribed nodes have a rule of their own.
std::optional<Finding> one_core(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    if (idle_cores(job, ranks) <= 0) continue;
    for (const auto& [core, together] : bound_ranks(job, ranks)) {
      if (together.size() < 2) continue;
      const bool are_siblings = !share_units(job, together);
      return Finding{Severity::slow, are_siblings ? "siblings" : "one-core",
                     fmt::format("{} on {} are bound to {} core (of unit {}), while {} cores have no rank",
                                 ranks_text(together, job.size() + 1), facts_of(job, together.front()).host,
                                 are_siblings ? "hardware threads of one" : "one", core, idle_cores(job, ranks)),
                     "bind each rank to a core of its own: mpiexec -bind-to core (MPICH), --bind-to core (Open MPI), "
                     "--cpu-bind=cores (srun)"};
    }
  }
  return std::nullopt;
}

std::optional<Finding> all_siblings(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    const int cores = count_on_node(job, ranks.front(), ElementKind::core);
    const int count = static_cast<int>(ranks.size());
    if (cores == 0 || count <= cores || count > units_of(job, ranks)) continue;
    return Finding{
        Severity::note, "hardware-threads",
        fmt::format("{} ranks on {} use the hardware threads of {} cores", count, node_text(job, ranks), cores),
        fmt::format("compare with {} ranks, one per core", cores)};
  }
  return std::nullopt;
}

std::optional<Finding> unbound(const Job& job) {
  std::vector<int> free;
  for (const std::vector<int>& ranks : ranks_of_nodes(job))
    for (const int rank : ranks)
      if (ranks.size() > 1 && place_of(job, rank).numa < 0 && count_on_node(job, rank, ElementKind::numa) > 1)
        free.push_back(rank);
  if (free.empty()) return std::nullopt;
  return Finding{
      Severity::slow, "unbound",
      fmt::format("{} may move between NUMA nodes, away from their memory and their GPU", ranks_text(free, job.size())),
      "bind ranks: mpiexec -bind-to core (MPICH), --bind-to core (Open MPI), --cpu-bind=cores (srun)"};
}

/// Ranks spread over more NUMA nodes than they need.
std::optional<Finding> spread(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    std::set<int> numas;
    for (const int rank : ranks) numas.insert(place_of(job, rank).numa);
    const int all = count_on_node(job, ranks.front(), ElementKind::numa);
    const int cores = count_on_node(job, ranks.front(), ElementKind::core);
    if (numas.contains(-1) || numas.size() < 2 || all == 0 || static_cast<int>(ranks.size()) > cores / all) continue;
    return Finding{Severity::note, "numa",
                   fmt::format("{} ranks on {} are spread over {} NUMA nodes; one has {} cores", ranks.size(),
                               node_text(job, ranks), numas.size(), cores / all),
                   "bind them to cores of one NUMA node if they exchange more than they load from memory"};
  }
  return std::nullopt;
}

std::optional<Finding> governor(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) { return facts.processor.governor == "powersave"; });
  if (ranks.empty()) return std::nullopt;
  return Finding{Severity::note, "governor",
                 fmt::format("the processor saves power (governor powersave) for {}: short calls may find slow clocks",
                             ranks_text(ranks, job.size())),
                 "cpupower frequency-set -g performance (with intel_pstate, powersave may be fast enough: measure)"};
}

std::optional<Finding> clock_source(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) {
    const std::string& clock = facts.processor.clock;
    return !clock.empty() && clock != "tsc" && clock != "kvm-clock" && clock != "arch_sys_counter" &&
           clock != "hyperv_clocksource_tsc_page" && clock != "timebase";
  });
  if (ranks.empty()) return std::nullopt;
  return Finding{Severity::slow, "clock",
                 fmt::format("the kernel's clock is {} on {}: timeouts and measurements cost a system call each",
                             facts_of(job, ranks.front()).processor.clock, ranks_text(ranks, job.size())),
                 "boot with clocksource=tsc tsc=reliable if the processor has a constant TSC"};
}

}  // namespace

std::span<const Rule> core_rules() {
  static constexpr std::array<Rule, 8> all = {oversubscribed, quota,  one_core, all_siblings,
                                              unbound,        spread, governor, clock_source};
  return all;
}

}  // namespace tutti::tools::doctor
