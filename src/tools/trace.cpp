// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "common/command_line/options.hpp"
#include "diagnosis/trace/merge.hpp"
#include "tools/trace_file.hpp"
#include "tools/trace_summary.hpp"

namespace tutti::tools {
namespace {

struct TraceSettings {
  std::string file;
  std::string output;
  bool json = false;
};

void merge_parts(const TraceSettings& settings) {
  const std::string& output = settings.output.empty() ? settings.file : settings.output;
  std::vector<std::string> lines;
  const std::vector<std::string> parts = detail::trace::find_parts(settings.file, lines);
  if (parts.empty())
    throw Error(ErrorCode::io, fmt::format("trace: there is no part of a trace {0}; the parts of TUTTI_TRACE={0} are "
                                           "{0}.0, {0}.1 and so on, until MPI_Finalize has merged them",
                                           settings.file));
  const std::string problem = detail::trace::merge(parts, output, lines);
  for (const std::string& line : lines) fmt::print(stderr, "tutti: {}\n", line);
  if (!problem.empty()) throw Error(ErrorCode::io, "trace: " + problem);
  fmt::print(stderr, "tutti: wrote {} from {} parts\n", output, parts.size());
}

void show_summary(const TraceSettings& settings) {
  std::ifstream file(settings.file);
  if (!file || std::filesystem::is_directory(settings.file))
    throw Error(ErrorCode::io, fmt::format("trace: {} cannot be read; name the file of TUTTI_TRACE. If the job ended "
                                           "without MPI_Finalize, call `tutti trace merge {}` first",
                                           settings.file, settings.file));
  TraceSummary summary;
  read_trace(file, settings.file, [&](const TraceSlice& slice) { summary.add(slice); });
  fmt::print("{}", settings.json ? summary.json() : summary.text());
}

}  // namespace

void add_trace(CLI::App& app) {
  CLI::App* trace = app.add_subcommand(
      "trace", "Where the time of a job went that TUTTI_TRACE has recorded, and who waited for whom. Starts no MPI");
  trace->require_subcommand(1);
  const auto settings = std::make_shared<TraceSettings>();
  CLI::App* summary = trace->add_subcommand(
      "summary",
      "Time of each operation, size and path; imbalance; waits of each rank, and the ranks that caused them");
  summary->add_option("file", settings->file, "File of TUTTI_TRACE")->required();
  summary->add_flag("--json", settings->json, "Print JSON");
  summary->callback([settings] { show_summary(*settings); });
  CLI::App* merge =
      trace->add_subcommand("merge", "Merge the parts of a trace into one file, if the job ended without MPI_Finalize");
  merge->add_option("file", settings->file, "File of TUTTI_TRACE, beside which the parts lie")->required();
  merge->add_option("--output", settings->output, "File to write, if another one");
  merge->callback([settings] { merge_parts(*settings); });
}

bool is_trace(int argc, const char* const* argv) { return argc > 1 && std::string_view(argv[1]) == "trace"; }

}  // namespace tutti::tools
