// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/doctor/path_test.hpp"
#include "tools/units.hpp"

namespace tutti::tools::doctor {
namespace {

constexpr double resolution = 0.5e-6;  // a longer time by less is no finding

bool is_wrong(const PathResult& result) { return !result.problem.empty(); }

std::string test_text(const PathResult& result) {
  return fmt::format("{}{} of {}", call_name(result.call), result.on_device ? " on the device" : "",
                     bytes_text(static_cast<double>(result.bytes)));
}

Finding wrong_finding(const std::string& way, const std::vector<const PathResult*>& wrong) {
  return {Severity::error, "wrong",
          fmt::format("{} fails in {} test{}: {}: {}", way, wrong.size(), wrong.size() == 1 ? "" : "s",
                      test_text(*wrong.front()), wrong.front()->problem),
          "report it with the output of tutti info; until then name another way by TUTTI_ALGORITHM"};
}

constexpr const char* slow_remedy =
    "look for other work on these cores (top), then run again; TUTTI_CALIBRATION=now measures the costs anew, tutti "
    "tune "
    "the calls themselves";

double ratio_of(const PathResult* one) { return one->seconds / one->usual; }

/// A way and its tests that were slow.
struct SlowWay {
  std::string name{};
  std::vector<const PathResult*> slow{};
  std::size_t all = 0;

  [[nodiscard]] const PathResult* worst() const { return *std::ranges::max_element(slow, {}, ratio_of); }
};

std::string slow_text(const PathResult& one) {
  return fmt::format("{} takes {} ({:.1f} times {})", test_text(one), seconds_text(one.seconds), ratio_of(&one),
                     seconds_text(one.usual));
}

void add_slow_ways(std::vector<Finding>& findings, const std::vector<SlowWay>& ways) {
  constexpr std::size_t most_alone = 3;
  if (ways.size() <= most_alone) {
    for (const SlowWay& way : ways)
      findings.push_back({Severity::slow, "slow-path",
                          fmt::format("{} is slower than its model in {} of {} tests: {}", way.name, way.slow.size(),
                                      way.all, slow_text(*way.worst())),
                          slow_remedy});
    return;
  }
  const auto worst_of = [](const SlowWay& way) { return ratio_of(way.worst()); };
  const SlowWay& worst = *std::ranges::max_element(ways, {}, worst_of);
  findings.push_back({Severity::slow, "slow-path",
                      fmt::format("{} ways are slower than their models, most of all {}: {}", ways.size(), worst.name,
                                  slow_text(*worst.worst())),
                      slow_remedy});
}

void add_disturbed(std::vector<Finding>& findings, const PathTests& tests) {
  const auto disturbed = std::ranges::count_if(tests.results, &PathResult::is_disturbed);
  if (disturbed == 0) return;
  // A few are usual on a machine that does anything else at all.
  const bool are_few = 10 * static_cast<std::size_t>(disturbed) <= tests.results.size();
  findings.push_back({are_few ? Severity::note : Severity::slow, "disturbed",
                      fmt::format("other work kept ranks from running in all attempts to time {} of {} tests",
                                  disturbed, tests.results.size()),
                      "end it (top shows it), or bind ranks to cores of their own; then run tutti doctor again"});
}

}  // namespace

bool is_slow(const PathResult& result, const PathTests& tests, double slow) {
  return tests.why_not_compared.empty() && !result.on_device && !result.is_disturbed && result.usual > 0 &&
         result.seconds > slow * result.usual && result.seconds - result.usual > resolution;
}

std::vector<Finding> path_findings(const PathTests& tests, double slow) {
  std::map<std::string, std::vector<const PathResult*>> by_way;
  for (const PathResult& result : tests.results)
    by_way[result.way + (result.on_device ? " (device)" : "")].push_back(&result);
  std::vector<Finding> findings;
  std::vector<SlowWay> slow_ways;
  for (const auto& [way, all] : by_way) {
    std::vector<const PathResult*> wrong;
    SlowWay found{way, {}, all.size()};
    for (const PathResult* one : all) {
      if (is_wrong(*one)) wrong.push_back(one);
      if (is_slow(*one, tests, slow)) found.slow.push_back(one);
    }
    if (!wrong.empty()) findings.push_back(wrong_finding(way, wrong));
    if (!found.slow.empty()) slow_ways.push_back(std::move(found));
  }
  add_slow_ways(findings, slow_ways);
  add_disturbed(findings, tests);
  return findings;
}

}  // namespace tutti::tools::doctor
