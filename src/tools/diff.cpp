// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "diagnosis/differences.hpp"
#include "tools/commands.hpp"
#include "tools/kept_jobs.hpp"

namespace tutti::tools {
namespace {

using namespace detail::flight;

struct DiffSettings {
  std::vector<std::string> runs;
  bool json = false;
};

bool has_sums(const Snapshot& snapshot) {
  return std::any_of(snapshot.calls.begin(), snapshot.calls.end(), [](const SeenCall& call) { return !!call.sums; });
}

/// The recorders that one run has left.
Job run_of(const std::string& path) {
  std::vector<Job> jobs = kept_jobs("diff", {path});
  if (jobs.size() != 1)
    throw Error(ErrorCode::io, fmt::format("diff: {} has the recorders of {} jobs; name a folder of TUTTI_FLIGHT that "
                                           "one run alone has written to",
                                           path, jobs.size()));
  if (std::none_of(jobs.front().begin(), jobs.front().end(), has_sums))
    throw Error(
        ErrorCode::io,
        fmt::format("diff: the recorders in {} have no checksums; run the program with TUTTI_CHECKSUM=1", path));
  return std::move(jobs.front());
}

struct Result {
  std::string where;
  Comparison comparison;
};

std::vector<Result> results_of(const DiffSettings& settings, const std::vector<Job>& runs) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < runs.size(); ++i)
    results.push_back({"within " + settings.runs[i], compare_ranks(runs[i])});
  if (runs.size() == 2) results.push_back({"between the runs", compare_runs(runs[0], runs[1])});
  return results;
}

std::string result_text(const Result& result) {
  const Comparison& comparison = result.comparison;
  const std::string skipped =
      comparison.skipped == 0 ? "" : fmt::format(", {} cannot be on other numbers of ranks", comparison.skipped);
  if (!comparison.parting)
    return fmt::format("{}: no difference ({} calls compared{})\n", result.where, comparison.compared, skipped);
  return fmt::format("{}: first difference ({} calls compared{})\n  {}\n", result.where, comparison.compared, skipped,
                     parting_text(*comparison.parting));
}

nlohmann::json side_json(const SeenCall& call) {
  return {{"sequence", call.facts.sequence},
          {"run", call.sums->run},
          {"way", call.way},
          {"given", fmt::format("{:016x}", call.sums->given.checksum)},
          {"taken", fmt::format("{:016x}", call.sums->taken.checksum)}};
}

nlohmann::json result_json(const Result& result) {
  const Comparison& comparison = result.comparison;
  nlohmann::json json = {{"where", result.where}, {"compared", comparison.compared}, {"skipped", comparison.skipped}};
  if (!comparison.parting) return json;
  const Parting& parting = *comparison.parting;
  json["difference"] = {{"kind", parting_name(parting.kind)},
                        {"text", parting_text(parting)},
                        {"call", call_name(parting.call.facts.call)},
                        {"communicator", parting.snapshot->communicator(parting.call).name},
                        {"ranks", parting.ranks},
                        {"equal_ranks", parting.equal_ranks},
                        {"one", side_json(parting.call)},
                        {"other", side_json(parting.other)}};
  const Extent elements = elements_of(parting);
  if (elements.begin != elements.end)
    json["difference"][has_elements(parting) ? "elements" : "bytes"] = {elements.begin, elements.end - 1};
  return json;
}

void show_diff(const DiffSettings& settings) {
  std::vector<Job> runs;
  for (const std::string& path : settings.runs) runs.push_back(run_of(path));
  const std::vector<Result> results = results_of(settings, runs);
  nlohmann::json json = nlohmann::json::array();
  for (const Result& result : results) json.push_back(result_json(result));
  if (settings.json) fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  for (const Result& result : results)
    if (!settings.json) fmt::print("{}", result_text(result));
  const auto parts = [](const Result& result) { return result.comparison.parting.has_value(); };
  if (std::any_of(results.begin(), results.end(), parts)) throw CLI::RuntimeError(1);
}

}  // namespace

void add_diff(CLI::App& app) {
  CLI::App* diff = app.add_subcommand(
      "diff",
      "The first call in which two runs of a program part, or in which ranks of one run have other results that should "
      "be equal. Of the files that TUTTI_CHECKSUM=1 TUTTI_FLIGHT=./FOLDER has left. Starts no MPI; ends with status "
      "1 if it finds a difference");
  const auto settings = std::make_shared<DiffSettings>();
  diff->add_option("runs", settings->runs, "The folders of one run or of two")->required()->expected(1, 2);
  diff->add_flag("--json", settings->json, "Print JSON");
  diff->callback([settings] { show_diff(*settings); });
}

bool is_diff(int argc, const char* const* argv) { return argc > 1 && std::string_view(argv[1]) == "diff"; }

}  // namespace tutti::tools
