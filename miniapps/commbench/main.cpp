// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <tutti/tutti.hpp>

#include "common/command_line/progress.hpp"
#include "common/command_line/start.hpp"
#include "common/program.hpp"
#include "common/show/text_file.hpp"
#include "names.hpp"
#include "options.hpp"
#include "replay/replay.hpp"
#include "report.hpp"
#include "suite.hpp"

namespace {

namespace command_line = tutti::command_line;
using namespace tutti::commbench;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void print_list(const tutti::Communicator& comm) {
  std::string text =
      fmt::format("operations: {}\n\nmessages: {}\n\ndatatypes: {}\n\noperations of reductions: {}\n\nmemory:\n",
                  fmt::join(operation_names(), ", "), fmt::join(traffic_names(), ", "), fmt::join(type_names(), ", "),
                  fmt::join(op_names(), ", "));
  for (const auto kind : parse_memory({"all"})) {
    const std::string why = why_no_memory(kind);
    text += fmt::format("  {:8} {}\n", space_name(kind), why.empty() ? "yes" : "no: " + why);
  }
  text += fmt::format("\nalgorithms on {} ranks, beside auto, all, the backends shm, mpi and native, and {}:\n",
                      comm.size(), host_mpi);
  for (const Operation operation : all_operations)
    text += fmt::format("  {:20} {}\n", operation_name(operation),
                        fmt::join(all_algorithm_names(comm, operation, MemorySpace::host), ", "));
  if (why_no_memory(MemorySpace::device).empty()) text += fmt::format("\ndevice memory:\n{}\n", comm.device_report());
  print(text + "\nlibraries:\n" + tutti::config_summary());
}

/// Names that no operation asked for has. Throws std::invalid_argument.
void check_algorithms(const tutti::Communicator& comm, const Settings& settings) {
  std::set<std::string> valid{"auto", "all", "shm", "mpi", "native", "nccl", "staged", host_mpi, raw_nccl};
  for (const Operation operation : settings.operations)
    for (const MemorySpace memory : settings.memory)
      for (const std::string& name : all_algorithm_names(comm, operation, memory)) valid.insert(name);
  for (const std::string& name : settings.algorithms)
    if (!valid.contains(name) && !valid.contains("mpi:" + name))
      throw std::invalid_argument(fmt::format("--algorithms: there is no '{}' for these operations; choose from {}",
                                              name, fmt::join(valid, ", ")));
}

/// What depends on the number of ranks. Throws std::invalid_argument.
void complete(Settings& settings, int ranks) {
  if (settings.root < 0 || settings.root >= ranks)
    throw std::invalid_argument(
        fmt::format("--root {} is not a rank; there are {} ranks, from 0 to {}", settings.root, ranks, ranks - 1));
  const std::size_t parts = settings.splits.parts.size();
  if (parts > 0 && parts != static_cast<std::size_t>(ranks))
    throw std::invalid_argument(fmt::format("--splits {}: there are {} parts for {} ranks; name a part for each rank",
                                            splits_text(settings.splits), parts, ranks));
  if (settings.reuse != Reuse::reuse && settings.cold_bytes == 0)
    settings.cold_bytes = std::max(std::size_t{64} << 20U, 2 * largest_cache() / static_cast<std::size_t>(ranks));
}

/// The names that the table can show.
std::vector<std::string> shown_names(const tutti::Communicator& comm, const Settings& settings) {
  std::vector<std::string> names = settings.algorithms;
  for (const Operation operation : settings.operations)
    for (const MemorySpace memory : settings.memory)
      for (const std::string& name : all_algorithm_names(comm, operation, memory)) {
        names.push_back(name);
        names.push_back("auto (" + name + ")");
      }
  return names;
}

bool needs_device(const Settings& settings) {
  return std::any_of(settings.memory.begin(), settings.memory.end(),
                     [](MemorySpace space) { return is_on_device(space) && why_no_memory(space).empty(); });
}

int measure(const tutti::Communicator& comm, Settings settings) {
  const bool is_first = comm.rank() == 0;
  complete(settings, comm.size());
  if (needs_device(settings)) comm.prepare_device();
  check_algorithms(comm, settings);
  const auto points = points_of(settings, comm.size());
  if (points.empty())
    throw std::invalid_argument(
        "nothing to measure: no type in --types has an operation of --ops, or --high is below "
        "one element a rank, or there is one rank for messages; see --list");
  for (const std::string& file : {settings.json_file, settings.csv_file})
    if (is_first && !file.empty()) tutti::miniapps::check_writable(file);
  Suite suite(comm, settings);
  tutti::command_line::Progress progress("commbench", points.size(), is_first);
  std::vector<PointResult> results;
  std::uint64_t wrong = 0;
  const TableWidths widths = table_widths(points, shown_names(comm, settings), settings.beside);
  if (is_first) print(table_header(widths));
  for (const Point& point : points) {
    results.push_back(suite.measure(point));
    for (const Measurement& m : results.back().measurements) wrong += m.wrong;
    if (!is_first) continue;
    progress.clear();
    print(table_lines(widths, results.back(), comm.size()));
    progress.update(results.size());
  }
  progress.finish();
  if (is_first && !settings.json_file.empty()) write_json(settings.json_file, settings, comm, results);
  if (is_first && !settings.csv_file.empty()) write_csv(settings.csv_file, results, comm.size());
  if (wrong > 0 && is_first)
    std::fprintf(stderr, "tutti-commbench: %s\n", fmt::format("{} results were wrong", wrong).c_str());
  return wrong > 0 ? 1 : 0;
}

int run(const tutti::Communicator& comm, const Request& request) {
  if (request.task == Task::list) {
    if (why_no_memory(MemorySpace::device).empty()) comm.prepare_device();
    if (comm.rank() == 0) print_list(comm);
    return 0;
  }
  if (request.task == Task::replay) return replay::run_replay(comm, request.replay_settings);
  return measure(comm, request.settings);
}

int run_plot(const PlotOptions& options) {
  try {
    std::vector<std::string> words{options.input, "-o", options.output, "--metric", options.metric};
    if (!options.operations.empty())
      words.insert(words.end(), {"--operations", fmt::format("{}", fmt::join(options.operations, ","))});
    tutti::miniapps::draw_chart(words);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-commbench: %s\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse_command_line(argc, argv);
  if (request.task == Task::plot) return run_plot(request.plot);
  if (command_line::asks_for_document(argc, argv)) return show(request, 0);
  return tutti::miniapps::run_program("tutti-commbench", argc, argv, {}, [&] {
    if (request.task == Task::stop) return show(request, command_line::world_rank());
    command_line::warn_of_launcher("tutti-commbench");
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    try {
      return run(comm, request);
    } catch (const std::invalid_argument& error) {  // found alike on all ranks
      if (comm.rank() == 0) std::fprintf(stderr, "tutti-commbench: %s\n", error.what());
      return 1;
    }
  });
}
