// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <tutti/version.hpp>

#include "common/command_line/options.hpp"
#include "common/command_line/parse.hpp"
#include "names.hpp"
#include "replay/replay.hpp"

namespace tutti::commbench {
namespace {

using namespace command_line;
using Names = std::vector<std::string>;

struct Lists {
  Names operations{"allreduce"};
  Names types{"float32"};
  Names ops{"sum"};
  Names memory{"host"};
  Names modes{"blocking"};
  Names algorithms{"auto", host_mpi};
};

constexpr std::size_t most_size = std::size_t{1} << 40U;
constexpr int most_iterations = 100'000'000;
constexpr const char* about =
    "Measures Tutti's collectives, by several algorithms side by side and beside the host MPI's own, and verifies "
    "every "
    "result that it samples.\nRun it as: mpiexec -n 2 tutti-commbench --operations allreduce,bcast --json out.json\n"
    "Then: tutti-commbench plot out.json -o out.svg";

void add_lists(CLI::App& app, Lists& lists) {
  add_words(app, "-o,--operations", lists.operations, "collectives, or all (see --list)");
  add_words(app, "-t,--types", lists.types, "datatypes, or all; also bytes(N)");
  add_words(app, "--ops", lists.ops, "operations of reductions, or all; those that a type has not are left out");
  add_words(app, "-m,--memory", lists.memory, "host, shared (from tutti::allocate), pinned, device, managed, or all");
  add_words(app, "--modes", lists.modes, "blocking, nonblocking, persistent, or all");
  add_words(app, "-a,--algorithms", lists.algorithms,
            "auto (Tutti's choice), a backend (shm, mpi, native; nccl, mpi, staged on device memory), one way "
            "(shm:slots, mpi:ring, nccl:direct), all; and called without Tutti: host-mpi, the host MPI, and raw-nccl");
}

void add_sizes(CLI::App& app, Settings& s) {
  add_bytes(app, "--low", s.low, {1, most_size},
            "smallest size: of the vector, or of all blocks of a rank together (explain --bytes takes one block)");
  add_bytes(app, "--high", s.high, {1, most_size}, "largest size");
  add_number(app, "--factor", s.factor, {2, 1U << 20U}, "from one size to the next");
  add_bytes(app, "--cold-bytes", s.cold_bytes, {0, most_size},
            "bytes that each rank reads to empty the caches (0: twice the largest cache over the ranks)");
  add_number(app, "--root", s.root, {0}, "rank of the root");
  add_flag(app, "--uneven", s.uneven, "blocks of the v-forms and of reduce_scatter differ in length");
}

void add_method(CLI::App& app, Settings& s) {
  add_choice<Accumulation>(
      app, "--accumulation", s.accumulation,
      {{"full", Accumulation::full}, {"backend", Accumulation::backend}, {"exact", Accumulation::exact}},
      "sums: full (of 16- and 8-bit floats in float32), as the backend, or exact");
  add_choice<Check>(app, "--check", s.check, {{"all", Check::all}, {"sample", Check::sample}, {"off", Check::off}},
                    "which results are verified");
  add_choice<Reuse>(app, "--buffers", s.reuse,
                    {{"reuse", Reuse::reuse}, {"cold", Reuse::cold}, {"fresh", Reuse::fresh}},
                    "reuse: the same; cold: in no cache; fresh: cold and newly mapped");
  add_number(app, "--warm-up", s.warm_up, {0, 1000000}, "calls before the timed ones");
  add_number(app, "--rounds", s.rounds, {1, 1000}, "in each, all algorithms are measured in turn");
  add_number(app, "--budget", s.budget, {0, 1e6, true}, "seconds of calls for a point and algorithm");
  add_number(app, "--min-iterations", s.min_iterations, {1, most_iterations}, "timed calls at least");
  add_number(app, "--max-iterations", s.max_iterations, {1, most_iterations}, "timed calls at most in a round");
  add_flag(app, "--overlap,!--no-overlap", s.overlap, "how much of nonblocking calls computing hides (default on)");
  add_number(app, "--overlap-tests", s.overlap_tests, {0, 100000}, "tests during the computing, in the second figure");
  add_number(app, "--overlap-probes", s.overlap_probes, {0, 100000},
             "calls of MPI_Iprobe during the computing, in a third figure (default 0: no such figure)");
}

void add_output(CLI::App& app, Settings& s, bool& list) {
  add_text(app, "--json", s.json_file, "FILE", "writes all figures to this file");
  add_text(app, "--csv", s.csv_file, "FILE", "the same as comma separated values");
  add_flag(app, "--list", list, "prints operations, datatypes, operations of reductions and algorithms");
}

CLI::App* add_plot(CLI::App& app, PlotOptions& plot) {
  CLI::App* command =
      app.add_subcommand("plot", "Draws a file of --json: one panel a collective, one line an algorithm");
  add_text(*command, "file", plot.input, "FILE", "the file")->required();
  add_text(*command, "-o,--output", plot.output, "FILE", "the SVG to write")->required();
  add_choice(*command, "--metric", plot.metric, {"latency", "algbw", "busbw"}, "what is drawn");
  add_words(*command, "--operations", plot.operations, "only these");
  return command;
}

void require(bool is_right, const std::string& message) {
  if (!is_right) throw std::invalid_argument(message);
}

void validate(const Settings& s) {
  require(s.high >= s.low, fmt::format("--high {} is below --low {}; raise it", s.high, s.low));
  require(
      s.max_iterations >= s.min_iterations,
      fmt::format("--max-iterations {} is below --min-iterations {}; raise it", s.max_iterations, s.min_iterations));
}

void resolve(const Lists& lists, Settings& s) {
  s.operations = parse_operations(lists.operations);
  s.types = parse_types(lists.types);
  s.ops = parse_ops(lists.ops);
  s.memory = parse_memory(lists.memory);
  s.modes = parse_modes(lists.modes);
  s.algorithms = lists.algorithms;
  validate(s);
}

}  // namespace

Request parse_command_line(int argc, const char* const* argv) {
  Request request;
  Lists lists;
  bool list = false;
  CLI::App app{about};
  app.name("tutti-commbench");
  add_lists(app, lists);
  add_sizes(app, request.settings);
  add_method(app, request.settings);
  add_output(app, request.settings, list);
  const CLI::App* plot = add_plot(app, request.plot);
  const CLI::App* replays = replay::add_replay(app, request.replay_settings);
  add_helps(app, "tutti-commbench " TUTTI_VERSION_STRING);
  static_cast<Outcome&>(request) = parse(app, arguments_of(argc, argv), [&] { resolve(lists, request.settings); });
  request.task = request.stop        ? Task::stop
                 : plot->parsed()    ? Task::plot
                 : replays->parsed() ? Task::replay
                 : list              ? Task::list
                                     : Task::measure;
  return request;
}

}  // namespace tutti::commbench
