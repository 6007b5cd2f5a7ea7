// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "backends/shm/layout.hpp"
#include "tools/doctor/rules.hpp"
#include "tools/units.hpp"

namespace tutti::tools::doctor {
namespace {

/// What a communicator of all ranks of a node takes of /dev/shm, in bytes. One rank alone stands for a pair.
std::uint64_t needed_bytes(const std::vector<int>& ranks) {
  const int count = std::max(2, static_cast<int>(ranks.size()));
  return detail::shm::Layout(count).total(count);
}

std::string size_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

/// The first node where a condition holds for its lowest rank with that property, and what it needs.
template <typename Condition>
std::optional<std::vector<int>> node_where(const Job& job, const Condition& holds) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job))
    if (std::ranges::any_of(ranks, [&](int rank) { return holds(facts_of(job, rank), needed_bytes(ranks)); }))
      return ranks;
  return std::nullopt;
}

std::optional<Finding> absent(const Job& job) {
  const auto node = node_where(job, [](const RankFacts& facts, std::uint64_t) { return !facts.shm.exists; });
  if (!node) return std::nullopt;
  return Finding{Severity::slow, "shm-absent",
                 fmt::format("/dev/shm is not there on {}: ranks exchange messages instead", node_text(job, *node)),
                 "mount it: mount -t tmpfs tmpfs /dev/shm; in a container: --ipc=host or --shm-size=1g"};
}

std::optional<Finding> read_only(const Job& job) {
  const auto node =
      node_where(job, [](const RankFacts& facts, std::uint64_t) { return facts.shm.exists && facts.shm.is_read_only; });
  if (!node) return std::nullopt;
  return Finding{Severity::slow, "shm-read-only",
                 fmt::format("/dev/shm is read-only on {}: ranks exchange messages instead", node_text(job, *node)),
                 "mount it for writing: mount -o remount,rw /dev/shm; in a container: a volume or --tmpfs /dev/shm:rw"};
}

bool is_small(const SharedMemory& shm, std::uint64_t needed) {
  return shm.exists && !shm.is_read_only && shm.free_bytes < needed;
}

std::optional<Finding> too_small(const Job& job) {
  const auto node =
      node_where(job, [](const RankFacts& facts, std::uint64_t needed) { return is_small(facts.shm, needed); });
  if (!node) return std::nullopt;
  const SharedMemory& shm = facts_of(job, node->front()).shm;
  return Finding{
      Severity::slow, "shm-full",
      fmt::format("/dev/shm has {} of {} free on {}; a communicator of its ranks takes {}", size_text(shm.free_bytes),
                  size_text(shm.all_bytes), node_text(job, *node), size_text(needed_bytes(*node))),
      "remove stale files there, or enlarge it: mount -o remount,size=50% /dev/shm; Docker: --shm-size=1g"};
}

std::optional<Finding> file_limit(const Job& job) {
  const auto node =
      node_where(job, [](const RankFacts& facts, std::uint64_t needed) { return facts.limits.file_bytes < needed; });
  if (!node) return std::nullopt;
  std::uint64_t least = unlimited;
  for (const int rank : *node) least = std::min(least, facts_of(job, rank).limits.file_bytes);
  return Finding{
      Severity::slow, "file-limit",
      fmt::format("files are limited to {} (ulimit -f) on {}; a communicator of its ranks takes {} of shared "
                  "memory",
                  size_text(least), node_text(job, *node), size_text(needed_bytes(*node))),
      "raise the limit where the ranks start: ulimit -f unlimited"};
}

/// A trial that failed for a reason that no other rule names.
std::optional<Finding> trial(const Job& job) {
  const auto node = node_where(job, [](const RankFacts& facts, std::uint64_t needed) {
    return facts.shm.exists && !facts.shm.problem.empty() && !facts.shm.is_read_only && !is_small(facts.shm, needed) &&
           facts.limits.file_bytes >= needed;
  });
  if (!node) return std::nullopt;
  const auto failed = std::ranges::find_if(*node, [&](int rank) { return !facts_of(job, rank).shm.problem.empty(); });
  return Finding{Severity::slow, "shm-trial",
                 fmt::format("rank {} on {}: {}", *failed, node_text(job, *node), facts_of(job, *failed).shm.problem),
                 "check the rights of /dev/shm (mode 1777) and the rules of the container"};
}

std::optional<Finding> several_file_systems(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    std::set<std::uint64_t> seen;
    for (const int rank : ranks) seen.insert(facts_of(job, rank).shm.file_system);
    if (seen.size() == 1) continue;
    return Finding{Severity::slow, "shm-differs",
                   fmt::format("the ranks of {} see {} different /dev/shm", node_text(job, ranks), seen.size()),
                   "start them in one container, or let the containers share it: --ipc=host"};
  }
  return std::nullopt;
}

std::optional<Finding> switched_off(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) { return is_off(facts, "TUTTI_SHM"); });
  if (ranks.empty()) return std::nullopt;
  return Finding{
      Severity::slow, "shm-off",
      fmt::format("TUTTI_SHM=0 on {}: ranks exchange messages instead of memory", ranks_text(ranks, job.size())),
      "unset TUTTI_SHM"};
}

/// Shared memory that is missing for a reason that no other rule names.
std::optional<Finding> not_shared(const Job& job) {
  const bool is_expected = job.made.is_made && job.size() > 1 && job.topology.nodes == 1;
  if (!is_expected || job.made.shared_memory) return std::nullopt;
  for (const Rule other : {absent, read_only, too_small, file_limit, trial, several_file_systems, switched_off})
    if (other(job)) return std::nullopt;
  return Finding{Severity::slow, "shm", "the ranks share no memory: " + job.made.shm_report,
                 "see docs/semantics.md, Shared memory, for the conditions"};
}

std::optional<Finding> address_limit(const Job& job) {
  constexpr std::uint64_t usual = std::uint64_t{8} << 30U;
  const auto ranks = ranks_where(job, [](const RankFacts& facts) { return facts.limits.address_bytes < usual; });
  if (ranks.empty()) return std::nullopt;
  return Finding{
      Severity::note, "address-limit",
      fmt::format("{} may map {} (ulimit -v): shared memory and long buffers may be refused",
                  ranks_text(ranks, job.size()), size_text(facts_of(job, ranks.front()).limits.address_bytes)),
      "raise the limit where the ranks start: ulimit -v unlimited"};
}

/// Pinned memory and most networks need memory that stays in place.
std::optional<Finding> locked_limit(const Job& job) {
  constexpr std::uint64_t usual = std::uint64_t{64} << 20U;
  const auto ranks = ranks_where(job, [&job](const RankFacts& facts) {
    return facts.limits.locked_bytes < usual && (job.topology.nodes > 1 || facts.device.count > 0);
  });
  if (ranks.empty()) return std::nullopt;
  return Finding{
      Severity::note, "locked-limit",
      fmt::format("{} may lock {} of memory (ulimit -l): fast networks and GPUs pin more",
                  ranks_text(ranks, job.size()), size_text(facts_of(job, ranks.front()).limits.locked_bytes)),
      "raise the limit: ulimit -l unlimited, or memlock in /etc/security/limits.conf"};
}

/// What a communicator of all ranks of a node takes of a rank's descriptors: one for each other rank, by which it sees
/// that one's end, two for the files of the flight recorder, and one for a segment while it is mapped.
std::uint64_t needed_descriptors(const std::vector<int>& ranks) { return ranks.size() + 2; }

std::optional<Finding> descriptor_limit(const Job& job) {
  for (const std::vector<int>& ranks : ranks_of_nodes(job)) {
    const auto lacks = [needed = needed_descriptors(ranks)](const Limits& limits) {
      return limits.descriptors < limits.open_descriptors + needed;
    };
    const auto found = std::ranges::find_if(ranks, [&](int rank) { return lacks(facts_of(job, rank).limits); });
    if (found == ranks.end()) continue;
    const Limits& limits = facts_of(job, *found).limits;
    return Finding{
        Severity::slow, "descriptor-limit",
        fmt::format("rank {} may open {} files (ulimit -n) and has {}; a communicator of the ranks of {} takes {}: "
                    "without them ranks exchange messages instead of memory, and see the end of others later",
                    *found, limits.descriptors, limits.open_descriptors, node_text(job, ranks),
                    needed_descriptors(ranks)),
        "raise the limit where the ranks start: ulimit -n 4096, or nofile in /etc/security/limits.conf"};
  }
  return std::nullopt;
}

std::optional<Finding> group_memory(const Job& job) {
  const auto node = node_where(
      job, [](const RankFacts& facts, std::uint64_t needed) { return facts.limits.group_free_bytes < needed; });
  if (!node) return std::nullopt;
  const Limits& limits = facts_of(job, node->front()).limits;
  return Finding{Severity::error, "group-memory",
                 fmt::format("the control group of {} has {} of its {} of memory left; shared memory takes {}, and the "
                             "kernel ends processes beyond the limit",
                             node_text(job, *node), size_text(limits.group_free_bytes), size_text(limits.group_bytes),
                             size_text(needed_bytes(*node))),
                 "give the job or the container more memory (sbatch --mem, docker run --memory)"};
}

std::optional<Finding> huge_pages(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) { return facts.processor.huge_pages == "never"; });
  if (ranks.empty()) return std::nullopt;
  return Finding{Severity::note, "huge-pages",
                 fmt::format("the kernel gives no huge pages to {}: long buffers cost more TLB misses",
                             ranks_text(ranks, job.size())),
                 "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

}  // namespace

std::span<const Rule> memory_rules() {
  static constexpr std::array<Rule, 13> all = {absent,        read_only,    too_small,        file_limit,
                                               trial,         switched_off, not_shared,       several_file_systems,
                                               address_limit, locked_limit, descriptor_limit, group_memory,
                                               huge_pages};
  return all;
}

}  // namespace tutti::tools::doctor
