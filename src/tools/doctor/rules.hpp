// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/doctor/facts.hpp"

namespace tutti::tools::doctor {

enum class Severity : std::uint8_t {
  error,  ///< breaks programs, or gives wrong results
  slow,   ///< costs speed
  note,   ///< good to know
};
[[nodiscard]] std::string_view severity_name(Severity severity);

/// What is wrong, and what helps.
struct Finding {
  Severity severity = Severity::note;
  std::string name{};  ///< for programs: "shm-full"
  std::string text{};
  std::string remedy{};
};

/// A pure function of the facts: what it finds, if anything.
using Rule = std::optional<Finding> (*)(const Job& job);

[[nodiscard]] std::span<const Rule> job_rules();     ///< launcher, communicator, variables, threads
[[nodiscard]] std::span<const Rule> memory_rules();  ///< /dev/shm and limits
[[nodiscard]] std::span<const Rule> wall_rules();    ///< rights to copy between processes, containers
[[nodiscard]] std::span<const Rule> core_rules();    ///< cores, binding, clock
[[nodiscard]] std::span<const Rule> cost_rules();    ///< tables and calibration
[[nodiscard]] std::span<const Rule> device_rules();  ///< GPUs, CUDA, NCCL

/// The findings of all rules, the gravest first.
[[nodiscard]] std::vector<Finding> findings_of(const Job& job);
/// Puts the gravest first; keeps the order otherwise.
void sort_by_severity(std::vector<Finding>& findings);

/// "all ranks", "rank 3", "ranks 0-2 and 5".
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks, int size);
/// The ranks for whose facts a condition holds.
template <typename Condition>
[[nodiscard]] std::vector<int> ranks_where(const Job& job, const Condition& holds) {
  std::vector<int> found;
  for (int rank = 0; rank < job.size(); ++rank)
    if (holds(job.ranks[static_cast<std::size_t>(rank)])) found.push_back(rank);
  return found;
}
/// The ranks of each node.
[[nodiscard]] std::vector<std::vector<int>> ranks_of_nodes(const Job& job);
/// "node a (ranks 0-3)".
[[nodiscard]] std::string node_text(const Job& job, const std::vector<int>& ranks);
[[nodiscard]] inline const RankFacts& facts_of(const Job& job, int rank) {
  return job.ranks[static_cast<std::size_t>(rank)];
}
/// The number of elements of a kind on the node of a rank.
[[nodiscard]] int count_on_node(const Job& job, int rank, detail::ElementKind kind);
/// Whether a rank has set a switch to 1.
[[nodiscard]] bool is_on(const RankFacts& facts, const char* variable);
[[nodiscard]] bool is_off(const RankFacts& facts, const char* variable);

}  // namespace tutti::tools::doctor
