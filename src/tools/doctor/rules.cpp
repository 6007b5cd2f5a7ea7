// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace tutti::tools::doctor {
namespace {

bool is_one_of(const RankFacts& facts, const char* variable, std::initializer_list<std::string_view> values) {
  const auto found = facts.variables.find(variable);
  return found != facts.variables.end() && std::find(values.begin(), values.end(), found->second) != values.end();
}

}  // namespace

std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 3> names = {"error", "slow", "note"};
  return names[static_cast<std::size_t>(severity)];
}

std::vector<Finding> findings_of(const Job& job) {
  std::vector<Finding> findings;
  for (const auto rules : {job_rules(), memory_rules(), wall_rules(), core_rules(), device_rules(), cost_rules()})
    for (const Rule rule : rules)
      if (auto finding = rule(job)) findings.push_back(std::move(*finding));
  sort_by_severity(findings);
  return findings;
}

void sort_by_severity(std::vector<Finding>& findings) { std::ranges::stable_sort(findings, {}, &Finding::severity); }

std::string ranks_text(const std::vector<int>& ranks, int size) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  if (static_cast<int>(ranks.size()) == size) return "all ranks";
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    parts.push_back(first == last ? fmt::format("{}", ranks[first]) : fmt::format("{}-{}", ranks[first], ranks[last]));
    first = last + 1;
  }
  std::string text = "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::vector<std::vector<int>> ranks_of_nodes(const Job& job) {
  std::vector<std::vector<int>> nodes(static_cast<std::size_t>(job.topology.nodes));
  for (std::size_t rank = 0; rank < job.topology.places.size(); ++rank)
    nodes[static_cast<std::size_t>(job.topology.places[rank].node)].push_back(static_cast<int>(rank));
  return nodes;
}

std::string node_text(const Job& job, const std::vector<int>& ranks) {
  return fmt::format("node {} ({})", facts_of(job, ranks.front()).host, ranks_text(ranks, job.size()));
}

int count_on_node(const Job& job, int rank, detail::ElementKind kind) {
  const int node = job.topology.places[static_cast<std::size_t>(rank)].node;
  return static_cast<int>(std::ranges::count_if(
      job.hardware.elements, [&](const auto& element) { return element.kind == kind && element.node == node; }));
}

bool is_on(const RankFacts& facts, const char* variable) { return is_one_of(facts, variable, {"1", "on", "true"}); }

bool is_off(const RankFacts& facts, const char* variable) {
  return is_one_of(facts, variable, {"", "0", "off", "false"});
}

}  // namespace tutti::tools::doctor
