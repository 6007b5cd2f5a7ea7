// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "common/command_line/options.hpp"
#include "diagnosis/findings.hpp"
#include "diagnosis/site_text.hpp"
#include "tools/kept_jobs.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

using namespace detail::flight;

struct FlightSettings {
  std::vector<std::string> sources;
  int last = 8;
  double least_wait = 0.1;
  bool json = false;
};

int number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : 0;
}

Job job_of(int process) {
  for (Job& job : jobs_of(find_recorders()))
    if (std::any_of(job.begin(), job.end(), [process](const Snapshot& one) { return one.process == process; }))
      return std::move(job);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("flight: process {} has no flight recorder that this user may read; `tutti flight` lists "
                          "those that have one. A program keeps its recorders beyond its end if TUTTI_FLIGHT names a "
                          "folder, as in TUTTI_FLIGHT=./flight",
                          process));
}

std::string status_of(const Snapshot& snapshot) {
  return snapshot.ended ? "has finalized MPI" : snapshot.is_alive ? "runs" : "has ended";
}

std::string time_text(const Snapshot& snapshot, const SeenCall& call) {
  if (call.end != 0) return fmt::format("{:.6f} s", snapshot.seconds(call));
  return snapshot.is_alive ? fmt::format("{}, for {:.3g} s", state_name(call.state), snapshot.seconds(call))
                           : std::string(state_name(call.state));
}

std::string job_text(const Job& job, const FlightSettings& settings) {
  std::string text;
  for (const Finding& finding : find_all(job, settings.least_wait)) text += fmt::format("* {}\n", finding.text);
  if (text.empty()) text = "Nothing wrong is seen.\n";
  for (const Snapshot& snapshot : job) {
    text += fmt::format("\nrank {} of {}, process {} of {}, {}, {} calls\n", snapshot.world_rank, snapshot.world_size,
                        snapshot.process, snapshot.host, status_of(snapshot), snapshot.total);
    const std::size_t count = std::min(snapshot.calls.size(), static_cast<std::size_t>(settings.last));
    for (auto call = snapshot.calls.end() - static_cast<std::ptrdiff_t>(count); call != snapshot.calls.end(); ++call)
      text += fmt::format("  {:>8}  {:<70}  {:<14}  {}\n", call->number, call_text(snapshot, *call), call->way,
                          time_text(snapshot, *call));
  }
  return text;
}

nlohmann::json call_json(const Snapshot& snapshot, const SeenCall& call) {
  const SeenCommunicator& communicator = snapshot.communicator(call);
  nlohmann::json json = {{"number", call.number},
                         {"call", call_name(call.facts.call)},
                         {"form", form_name(call.facts.form)},
                         {"state", state_name(call.state)},
                         {"communicator", fmt::format("{:016x}", communicator.mark)},
                         {"communicator_name", communicator.name},
                         {"rank", communicator.rank},
                         {"sequence", call.facts.sequence},
                         {"bytes", call.facts.bytes},
                         {"way", call.way},
                         {"begin_ns", call.begin},
                         {"text", call_text(snapshot, call)}};
  if (call.end != 0) json["end_ns"] = call.end;
  if (!call.site.empty()) json["site"] = call.site;
  if (call.facts.peer != -1) json["peer"] = call.facts.peer;
  if (call.facts.tag != -1) json["tag"] = call.facts.tag;
  return json;
}

nlohmann::json job_json(const Job& job, const FlightSettings& settings) {
  nlohmann::json json = {{"findings", nlohmann::json::array()}, {"ranks", nlohmann::json::array()}};
  for (const Finding& finding : find_all(job, settings.least_wait))
    json["findings"].push_back(
        {{"kind", finding_name(finding.kind)}, {"text", finding.text}, {"ranks", finding.ranks}});
  for (const Snapshot& snapshot : job) {
    nlohmann::json rank = {{"rank", snapshot.world_rank}, {"process", snapshot.process},    {"host", snapshot.host},
                           {"command", snapshot.command}, {"is_alive", snapshot.is_alive},  {"ended", snapshot.ended},
                           {"calls", snapshot.total},     {"last", nlohmann::json::array()}};
    const std::size_t count = std::min(snapshot.calls.size(), static_cast<std::size_t>(settings.last));
    for (auto call = snapshot.calls.end() - static_cast<std::ptrdiff_t>(count); call != snapshot.calls.end(); ++call)
      rank["last"].push_back(call_json(snapshot, *call));
    json["ranks"].push_back(std::move(rank));
  }
  return json;
}

std::string list_text(const std::vector<Job>& jobs) {
  if (jobs.empty()) return "No process of this user on this host has a flight recorder.\n";
  std::vector<std::vector<std::string>> rows{{"process", "ranks here", "of", "calls", "command"}};
  for (const Job& job : jobs) {
    const Snapshot& first = job.front();
    rows.push_back({std::to_string(first.process), std::to_string(job.size()), std::to_string(first.world_size),
                    std::to_string(first.total), first.command});
  }
  return detail::in_columns(rows) + "\n`tutti flight PROCESS` shows the job of a process.\n";
}

void show_jobs(std::vector<Job> jobs, const FlightSettings& settings) {
  for (Job& job : jobs) find_places(job);
  if (settings.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const Job& job : jobs) json.push_back(job_json(job, settings));
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  for (const Job& job : jobs) fmt::print("{}", job_text(job, settings));
}

void show_flight(const FlightSettings& settings) {
  const int process = settings.sources.size() == 1 ? number_of(settings.sources.front()) : 0;
  if (process > 0) return show_jobs({job_of(process)}, settings);
  if (!settings.sources.empty()) return show_jobs(kept_jobs("flight", settings.sources), settings);
  if (settings.json) return show_jobs(jobs_of(find_recorders()), settings);
  fmt::print("{}", list_text(jobs_of(find_recorders())));
}

}  // namespace

void add_flight(CLI::App& app) {
  CLI::App* flight = app.add_subcommand(
      "flight",
      "What the ranks of a job have called, and who waits for whom: of a process that runs on this host, or of the "
      "files that TUTTI_FLIGHT has kept. Without an argument it lists the jobs of this user. Starts no MPI");
  const auto settings = std::make_shared<FlightSettings>();
  flight->add_option("source", settings->sources, "A process, or a folder or files of TUTTI_FLIGHT");
  command_line::add_number(*flight, "--last", settings->last, {0, 1 << 20}, "Calls of each rank to show");
  command_line::add_number(*flight, "--least-wait", settings->least_wait, {0, 1e9},
                           "Seconds; shorter waits are no finding");
  flight->add_flag("--json", settings->json, "Print JSON");
  flight->callback([settings] { show_flight(*settings); });
}

bool is_flight(int argc, const char* const* argv) { return argc > 1 && std::string_view(argv[1]) == "flight"; }

}  // namespace tutti::tools
