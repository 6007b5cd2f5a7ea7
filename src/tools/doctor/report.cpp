// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>
#include <tutti/environment.hpp>

#include "tools/units.hpp"
#include "topology/columns.hpp"

namespace tutti::tools::doctor {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t width = 110;
constexpr std::size_t indent = 7;

std::string counted(std::size_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

/// A paragraph behind a word, broken between words.
std::string paragraph(std::string_view mark, const std::string& text) {
  std::string lines = fmt::format("{:<{}}", mark, indent);
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) lines += ' ';
    column += word.size() + (column > indent ? 1 : 0);
    lines += word;
  }
  return lines + "\n";
}

std::string job_text(const Report& report) {
  const Job& job = report.job;
  const auto yes = [](bool has) { return has ? "yes" : "no"; };
  std::string text = fmt::format("tutti {}, {} on {}, {}\n", version(), counted(job.ranks.size(), "rank", "ranks"),
                                 counted(static_cast<std::size_t>(job.topology.nodes), "node", "nodes"), job.mpi);
  if (job.made.is_made)
    text += fmt::format("shared memory: {}; single copy: {}; costs: {}\nprogress in MPI: {}: {}\n",
                        yes(job.made.shared_memory), yes(job.made.single_copy), job.made.costs_report,
                        yes(job.made.progress_hook), job.made.progress_report);
  if (!job.made.device_report.empty()) text += job.made.device_report + "\n";
  return text + "\n";
}

std::string findings_text(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings)
    text += paragraph(severity_name(finding.severity), finding.text) + paragraph("  ->", finding.remedy);
  return text.empty() ? "no findings\n\n" : text + "\n";
}

std::string cell_text(const PathResult& result) {
  if (result.seconds == 0) return "-";
  if (result.usual == 0) return seconds_text(result.seconds);
  return fmt::format("{} / {}", seconds_text(result.seconds), seconds_text(result.usual));
}

std::string state_of(const PathResult& result, const Report& report) {
  if (!result.problem.empty()) return "error";
  if (is_slow(result, report.tests, report.slow)) return "slow";
  return result.is_disturbed ? "disturbed" : "ok";
}

/// The gravest state of several sizes.
std::string verdict_of(const std::vector<const PathResult*>& results, const Report& report) {
  std::string verdict = "ok";
  double worst = 0;
  for (const PathResult* one : results) {
    const std::string size = bytes_text(static_cast<double>(one->bytes));
    if (!one->problem.empty()) return fmt::format("error at {}", size);
    if (one->is_disturbed && verdict == "ok") verdict = "right; its time is disturbed";
    const double ratio = one->usual > 0 ? one->seconds / one->usual : 0;
    if (!is_slow(*one, report.tests, report.slow) || ratio < worst) continue;
    worst = ratio;
    verdict = fmt::format("slow: {:.1f} times what is usual, at {}", ratio, size);
  }
  return verdict;
}

std::string tests_text(const Report& report) {
  if (report.tests.results.empty()) return "";
  std::set<std::size_t> sizes;
  std::map<std::tuple<bool, Call, std::string>, std::vector<const PathResult*>> rows;
  for (const PathResult& result : report.tests.results) {
    sizes.insert(result.bytes);
    rows[{result.on_device, result.call, result.way}].push_back(&result);
  }
  detail::TextRows table = {{"call", "way"}};
  for (const std::size_t size : sizes) table[0].push_back(bytes_text(static_cast<double>(size)));
  table[0].emplace_back("result");
  for (const auto& [key, results] : rows) {
    const auto& [on_device, call, way] = key;
    std::vector<std::string> row = {fmt::format("{}{}", call_name(call), on_device ? " (device)" : ""), way};
    for (const std::size_t size : sizes) {
      const auto found = std::ranges::find_if(results, [&](const PathResult* one) { return one->bytes == size; });
      row.push_back(found == results.end() ? "" : cell_text(**found));
    }
    row.push_back(verdict_of(results, report));
    table.push_back(std::move(row));
  }
  std::string text = "Tests of every path: time of a call / what its model or a table expects\n";
  text += detail::in_columns(table);
  if (!report.tests.why_not_compared.empty())
    text += fmt::format("Times are not judged, because {}.\n", report.tests.why_not_compared);
  if (report.tests.left > 0)
    text += fmt::format("{} not timed: the budget is spent (--budget).\n",
                        counted(report.tests.left, "call was", "calls were"));
  return text + "\n";
}

ordered_json tests_json(const Report& report) {
  ordered_json tests = ordered_json::array();
  for (const PathResult& result : report.tests.results) {
    ordered_json one = {{"call", call_name(result.call)},
                        {"way", result.way},
                        {"memory", result.on_device ? "device" : "host"},
                        {"bytes", result.bytes},
                        {"result", state_of(result, report)}};
    if (result.seconds > 0) one["seconds"] = result.seconds;
    if (result.usual > 0) one["usual_seconds"] = result.usual;
    if (!result.problem.empty()) one["problem"] = result.problem;
    tests.push_back(std::move(one));
  }
  return tests;
}

ordered_json findings_json(const Report& report) {
  ordered_json findings = ordered_json::array();
  for (const Finding& finding : report.findings)
    findings.push_back({{"severity", severity_name(finding.severity)},
                        {"name", finding.name},
                        {"text", finding.text},
                        {"remedy", finding.remedy}});
  return findings;
}

ordered_json facts_json(const Job& job) {
  ordered_json facts = ordered_json::array();
  for (RankFacts rank : job.ranks) {
    rank.hardware.clear();  // tutti topo --json shows it
    facts.push_back(ordered_json::parse(facts_to_json(rank)));
  }
  return facts;
}

}  // namespace

std::size_t count_of(const Report& report, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(report.findings, severity, &Finding::severity));
}

std::string report_text(const Report& report) {
  return job_text(report) + findings_text(report) + tests_text(report) +
         fmt::format("{}, {}, {}; {}\n", counted(count_of(report, Severity::error), "error", "errors"),
                     counted(count_of(report, Severity::slow), "thing is slow", "things are slow"),
                     counted(count_of(report, Severity::note), "note", "notes"),
                     counted(report.tests.results.size(), "test", "tests"));
}

std::string report_json(const Report& report) {
  const Job& job = report.job;
  const ordered_json value = {{"tutti", version()},
                              {"mpi", job.mpi},
                              {"ranks", job.ranks.size()},
                              {"nodes", job.topology.nodes},
                              {"errors", count_of(report, Severity::error)},
                              {"slow", count_of(report, Severity::slow)},
                              {"notes", count_of(report, Severity::note)},
                              {"findings", findings_json(report)},
                              {"shared_memory", job.made.shared_memory},
                              {"single_copy", job.made.single_copy},
                              {"progress_hook", job.made.progress_hook},
                              {"costs", job.made.costs_report},
                              {"table", job.tuning.report},
                              {"tests", tests_json(report)},
                              {"not_judged", report.tests.why_not_compared},
                              {"not_timed", report.tests.left},
                              {"facts", facts_json(job)}};
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tools::doctor
