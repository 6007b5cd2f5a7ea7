// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>
#include <stdexcept>

#include "names.hpp"

namespace tutti::commbench {
namespace {

using Names = std::vector<std::string>;

struct Lists {
  Names operations{"allreduce"};
  Names types{"float32"};
  Names ops{"sum"};
  Names memory{"host"};
  Names modes{"blocking"};
  Names algorithms{"auto", host_mpi};
};

constexpr const char* about =
    "Measures Tutti's collectives, by several algorithms side by side and beside the host MPI's own, and verifies "
    "every "
    "result that it samples.\nRun it as: mpiexec -n 2 tutti-commbench --operations allreduce,bcast --json out.json\n"
    "Then: tutti-commbench plot out.json -o out.svg";

void add_lists(CLI::App& app, Lists& lists) {
  const auto add = [&](const char* name, Names& target, const char* help) {
    app.add_option(name, target, help)->delimiter(',')->capture_default_str();
  };
  add("-o,--operations", lists.operations, "collectives, or all (see --list)");
  add("-t,--types", lists.types, "datatypes, or all; also bytes(N)");
  add("--ops", lists.ops, "operations of reductions, or all; those that a type has not are left out");
  add("-m,--memory", lists.memory, "host, shared (from tutti::allocate), pinned, device, managed, or all");
  add("--modes", lists.modes, "blocking, nonblocking, persistent, or all");
  add("-a,--algorithms", lists.algorithms,
      "auto (Tutti's choice), a backend (shm, mpi, native; nccl, mpi, staged on device memory), one way (shm:slots, "
      "mpi:ring, nccl:direct), all; and called without Tutti: host-mpi, the host MPI, and raw-nccl");
}

void add_sizes(CLI::App& app, Settings& s) {
  const auto bytes = [&](const char* name, std::size_t& target, const char* help) {
    app.add_option(name, target, help)->transform(CLI::AsSizeValue(false))->default_str(std::to_string(target));
  };
  bytes("--low", s.low, "smallest size of the vector or of all blocks together, in bytes or like 4KB (1024 each)");
  bytes("--high", s.high, "largest size in bytes");
  app.add_option("--factor", s.factor, "from one size to the next")->capture_default_str();
  bytes("--cold-bytes", s.cold_bytes,
        "bytes that each rank reads to empty the caches (0: twice the largest cache over the ranks)");
  app.add_option("--root", s.root, "rank of the root")->capture_default_str();
  app.add_flag("--uneven", s.uneven, "blocks of the v-forms and of reduce_scatter differ in length");
}

void add_method(CLI::App& app, Settings& s) {
  const std::map<std::string, Check> checks{{"all", Check::all}, {"sample", Check::sample}, {"off", Check::off}};
  const std::map<std::string, Reuse> reuses{{"reuse", Reuse::reuse}, {"cold", Reuse::cold}, {"fresh", Reuse::fresh}};
  const std::map<std::string, Accumulation> sums{{"full", Accumulation::full}, {"backend", Accumulation::backend}};
  app.add_option("--accumulation", s.accumulation, "sums of 16- and 8-bit floats: full (in float32), or as the backend")
      ->transform(CLI::CheckedTransformer(sums))
      ->default_str("full");
  app.add_option("--check", s.check, "which results are verified")
      ->transform(CLI::CheckedTransformer(checks))
      ->default_str("sample");
  app.add_option("--buffers", s.reuse, "reuse: the same; cold: in no cache; fresh: cold and newly mapped")
      ->transform(CLI::CheckedTransformer(reuses))
      ->default_str("reuse");
  app.add_option("--warm-up", s.warm_up, "calls before the timed ones")->capture_default_str();
  app.add_option("--rounds", s.rounds, "in each, all algorithms are measured in turn")->capture_default_str();
  app.add_option("--budget", s.budget, "seconds of calls for a point and algorithm")->capture_default_str();
  app.add_option("--min-iterations", s.min_iterations, "timed calls at least")->capture_default_str();
  app.add_option("--max-iterations", s.max_iterations, "timed calls at most in a round")->capture_default_str();
  app.add_flag("--overlap,!--no-overlap", s.overlap, "how much of nonblocking calls computing hides (default on)");
  app.add_option("--overlap-tests", s.overlap_tests, "tests during the computing, in the second figure")
      ->capture_default_str();
}

void add_output(CLI::App& app, Settings& s, bool& list) {
  app.add_option("--json", s.json_file, "writes all figures to this file");
  app.add_option("--csv", s.csv_file, "the same as comma separated values");
  app.add_flag("--list", list, "prints operations, datatypes, operations of reductions and algorithms");
}

CLI::App* add_plot(CLI::App& app, PlotOptions& plot) {
  const std::map<std::string, Metric> metrics{
      {"latency", Metric::latency}, {"algbw", Metric::algorithm_bandwidth}, {"busbw", Metric::bus_bandwidth}};
  CLI::App* command =
      app.add_subcommand("plot", "Draws a file of --json: one panel a collective, one line an algorithm");
  command->add_option("file", plot.input, "the file")->required();
  command->add_option("-o,--output", plot.output, "the SVG to write")->required();
  command->add_option("--metric", plot.metric, "latency, algbw or busbw")
      ->transform(CLI::CheckedTransformer(metrics))
      ->default_str("latency");
  command->add_option("--operations", plot.operations, "only these")->delimiter(',');
  return command;
}

void require(bool is_right, const std::string& message) {
  if (!is_right) throw std::invalid_argument(message);
}

void validate(const Settings& s) {
  require(s.high >= s.low, fmt::format("--high {} is below --low {}; raise it", s.high, s.low));
  require(s.low > 0, "--low must be at least 1 byte");
  require(s.factor >= 2, fmt::format("--factor {} leads nowhere; give 2 or more", s.factor));
  require(s.budget > 0 && s.budget < 1e6, fmt::format("--budget {} must be a positive number of seconds", s.budget));
  require(s.rounds >= 1 && s.rounds <= 1000, fmt::format("--rounds {} must be from 1 to 1000", s.rounds));
  require(s.warm_up >= 0 && s.warm_up <= 1000000, fmt::format("--warm-up {} must not be negative", s.warm_up));
  require(s.min_iterations >= 1 && s.max_iterations >= s.min_iterations,
          fmt::format("--min-iterations {} and --max-iterations {}: at least 1, and not above the other",
                      s.min_iterations, s.max_iterations));
  require(s.overlap_tests >= 0 && s.overlap_tests <= 100000, "--overlap-tests must not be negative");
  require(!s.algorithms.empty(), "--algorithms: the list is empty; name at least one, or auto");
}

void resolve(const Lists& lists, Settings& s) {
  s.operations = parse_operations(lists.operations);
  s.types = parse_types(lists.types);
  s.ops = parse_ops(lists.ops);
  s.memory = parse_memory(lists.memory);
  s.modes = parse_modes(lists.modes);
  s.algorithms = lists.algorithms;
  s.progress = ::isatty(STDERR_FILENO) == 1;
  validate(s);
}

Request stopped(int code, std::string text) {
  Request request;
  request.task = Task::stop;
  request.exit_code = code;
  request.text = std::move(text);
  return request;
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  Request request;
  Lists lists;
  bool list = false;
  CLI::App app{about};
  app.name("tutti-commbench");
  app.set_version_flag("--version", "tutti-commbench 0.1.0");
  add_lists(app, lists);
  add_sizes(app, request.settings);
  add_method(app, request.settings);
  add_output(app, request.settings, list);
  const CLI::App* plot = add_plot(app, request.plot);
  try {
    app.parse(argc, argv);
    resolve(lists, request.settings);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    if (app.exit(error, out, err) == 0) return stopped(0, out.str());
    return stopped(1, fmt::format("tutti-commbench: {} (see --help)\n", error.what()));
  } catch (const std::exception& error) {
    return stopped(1, fmt::format("tutti-commbench: {}\n", error.what()));
  }
  if (list) request.task = Task::list;
  if (plot->parsed()) request.task = Task::plot;
  return request;
}

}  // namespace tutti::commbench
