// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  Names modes{};
  Names algorithms{"auto", host_mpi};
  std::string splits = "even";
};

constexpr std::size_t most_size = std::size_t{1} << 40U;
constexpr int most_iterations = 100'000'000;
constexpr const char* about =
    "Measures Tutti's collectives, by several algorithms side by side and beside the host MPI's own, and verifies "
    "every "
    "result that it samples.\nRun it as: mpiexec -n 2 tutti-commbench --operations allreduce,bcast --json out.json\n"
    "Then: tutti-commbench plot out.json -o out.svg";

void add_lists(CLI::App& app, Lists& lists) {
  add_words(app, "-o,--operations", lists.operations,
            "collectives, or all (see --list); and messages of one size: sendrecv (to and from both neighbours in a "
            "ring), pairwise (rank i and i + n/2 to one another), incast (all to the root), multicast (root to all)");
  add_words(app, "-t,--types", lists.types, "datatypes, or all; also bytes(N)");
  add_words(app, "--ops", lists.ops, "operations of reductions, or all; those that a type has not are left out");
  add_words(app, "-m,--memory", lists.memory, "host, shared (from tutti::allocate), pinned, device, managed, or all");
  add_words(
      app, "--modes", lists.modes,
      "blocking, nonblocking, persistent, or all (without it blocking; nonblocking for --beside and --communicators)");
  add_words(app, "-a,--algorithms", lists.algorithms,
            "auto (Tutti's choice), a backend (shm, mpi, native; nccl, mpi, staged on device memory), one way "
            "(shm:slots, mpi:ring, nccl:direct), all; and called without Tutti: host-mpi, the host MPI, and raw-nccl");
}

void add_calls(CLI::App& app, Lists& lists, Settings& s) {
  add_number(app, "--root", s.root, {0}, "rank of the root");
  add_text(app, "--splits", lists.splits, "SPLITS",
           "how the v-forms and reduce_scatter divide their bytes: even, uneven (in turn half and one and a half times "
           "as much), random or random:SEED, zipf (rank k gets 1/(k+1) of what rank 0 gets), one (all to the rank "
           "behind the root), or a part for each rank, such as 3,1");
  add_flag(app, "--in-place", s.in_place,
           "calls get in_place where the operation has it, and work on the results of those before");
  add_number(app, "--communicators", s.communicators, {1, 64},
             "duplicates of the communicator, on each of which a call goes at the same time; more than one needs "
             "nonblocking or persistent calls");
}

void add_sizes(CLI::App& app, Settings& s) {
  add_bytes(app, "--low", s.low, {1, most_size},
            "smallest size: of the vector, or of all blocks of a rank together (explain --bytes takes one block)");
  add_bytes(app, "--high", s.high, {1, most_size}, "largest size");
  add_number(app, "--factor", s.factor, {2, 1U << 20U}, "from one size to the next");
  add_bytes(app, "--cold-bytes", s.cold_bytes, {0, most_size},
            "bytes that each rank reads to empty the caches (0: twice the largest cache over the ranks)");
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

void add_beside(CLI::App& app, Settings& s) {
  add_choice<Beside>(
      app, "--beside", s.beside,
      {{"nothing", Beside::nothing}, {"gemm", Beside::gemm}, {"embedding", Beside::embedding}, {"copy", Beside::copy}},
      "what a rank's thread computes while a nonblocking call is under way: a product of matrices by the "
      "BLAS, a lookup of embedding bags, or a copy; with as many tests as --overlap-tests");
  add_number(app, "--beside-size", s.beside_size, {0, std::size_t{1} << 40U},
             "rows of the square matrices, bags of 32 rows, or bytes of the copy; 0: takes as long as the call");
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
  const std::string missing = why_no_computation(s.beside);
  require(missing.empty(), missing);
  require(s.beside_size <= most_beside_size(s.beside),
          fmt::format("--beside-size {}: --beside {} takes up to {}; lower it", s.beside_size, beside_name(s.beside),
                      most_beside_size(s.beside)));
  require(s.beside == Beside::nothing || s.modes != std::vector<Mode>{Mode::blocking},
          fmt::format("--beside {}: a blocking call leaves no time; name --modes nonblocking,persistent",
                      beside_name(s.beside)));
  const bool blocks = std::find(s.modes.begin(), s.modes.end(), Mode::blocking) != s.modes.end();
  require(s.communicators == 1 || !blocks,
          fmt::format("--communicators {}: one thread makes blocking calls one after the other; name --modes "
                      "nonblocking,persistent",
                      s.communicators));
}

const char* usual_mode(const Settings& s) {
  return mode_name(s.beside == Beside::nothing && s.communicators == 1 ? Mode::blocking : Mode::nonblocking);
}

Splits named_splits(const std::string& text) {
  try {
    return parse_splits(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("--splits: {}", error.what()));
  }
}

void resolve(const Lists& lists, Settings& s) {
  s.operations = parse_operations(lists.operations);
  s.traffic = parse_traffic(lists.operations);
  s.splits = named_splits(lists.splits);
  s.types = parse_types(lists.types);
  s.ops = parse_ops(lists.ops);
  s.memory = parse_memory(lists.memory);
  s.modes = parse_modes(lists.modes.empty() ? Names{usual_mode(s)} : lists.modes);
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
  add_calls(app, lists, request.settings);
  add_sizes(app, request.settings);
  add_method(app, request.settings);
  add_beside(app, request.settings);
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
