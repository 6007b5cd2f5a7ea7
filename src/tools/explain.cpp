// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "backends/list.hpp"
#include "common/command_line/options.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "planner/overrides.hpp"
#include "tools/answer.hpp"
#include "tools/backends.hpp"
#include "tools/commands.hpp"
#include "tools/drawing.hpp"
#include "tools/program.hpp"
#include "tools/question.hpp"

namespace tutti::tools {
namespace {

using namespace command_line;

// A candidate's name is shorter.
constexpr int most_letters = 128;
// A schedule is made for every rank of them.
constexpr int most_ranks = 1 << 20;

struct Settings {
  Question question;
  bool backends = false;
  bool json = false;
  bool all_ranks = false;
  bool measure = false;
  int repeats = 0;  ///< 0: default_repeats
  std::string svg_file;
};

constexpr int default_repeats = 25;

void show_backends(const Settings& settings) {
  const Surroundings surroundings = surroundings_of(settings.question);
  if (!is_root()) return;
  const BackendTable table = backend_table(surroundings);
  print(settings.json ? backends_json(table) : backends_text(table));
}

/// Takes the algorithm that an option or a variable names for a call.
void take_name(detail::Signature& signature, Surroundings& surroundings) {
  if (!signature.algorithm.empty()) {
    surroundings.named_by = "--algorithm";
  } else if (const auto name = detail::tuning::override_for(signature.operation); !name.empty()) {
    signature.algorithm = name;
    surroundings.named_by = "TUTTI_ALGORITHM";
  }
}

void draw(const Settings& settings, const Answer& found) {
  if (found.measured) {
    write_drawing(settings.svg_file, answer_json(found), "rounds.py");
    return;
  }
  check_drawable(found);
  write_drawing(settings.svg_file, answer_json(found, true));
}

/// Measures the plan of rank 0 on all ranks.
void measure(const Settings& settings, const Case& call, std::optional<Answer>& found) {
  std::string way = found ? found->chosen()->name : "";
  way.resize(most_letters, ' ');
  detail::check_mpi(MPI_Bcast(way.data(), most_letters, MPI_CHAR, 0, MPI_COMM_WORLD), "MPI_Bcast");
  way.erase(way.find(' '));
  const int repeats = settings.repeats > 0 ? settings.repeats : default_repeats;
  MeasuredCall measured = measured_rounds(call.signature, call.block * call.signature.type.size(), way, repeats);
  if (found) add_measured(*found, std::move(measured));
}

void show_answer(const Settings& settings) {
  Surroundings surroundings = surroundings_of(settings.question);
  detail::Signature signature = signature_of(settings.question, static_cast<int>(surroundings.topology.places.size()));
  if (!is_root() && !settings.measure) return;
  signature.reproducible = signature.reproducible || detail::config().reproducible;
  signature.accumulation = detail::accumulation_of(signature.accumulation);
  if (is_root()) take_name(signature, surroundings);
  Case call(std::move(signature), std::move(surroundings), settings.question.rank);
  if (has_hidden_size(call.signature.operation))
    call.block = std::max<std::size_t>(1, elements_of(settings.question, call.signature.type));
  std::optional<Answer> found;
  if (is_root()) found = answer(call);
  if (settings.measure) measure(settings, call, found);
  if (!found) return;
  if (!settings.svg_file.empty()) draw(settings, *found);
  if (settings.json)
    print(answer_json(*found, settings.all_ranks));
  else
    print(answer_text(*found));
}

/// An assumption about a job that is not this one has nothing to measure.
void check_measurable(const Question& question) {
  const bool imagines = question.ranks > 0 || question.nodes > 0 || question.cores > 0 || !question.groups.empty() ||
                        question.no_shm || question.no_single_copy || question.progress_hook ||
                        question.no_progress_hook || !question.nccl.empty() || question.cuda_aware ||
                        question.no_kernels;
  if (imagines)
    throw UsageError(
        "explain: --measure makes the call in this job, and assumes nothing: omit --ranks and all assumptions, and "
        "start the command by mpiexec; variables such as TUTTI_SHM=0 change a job");
  if (question.memory != "host") throw UsageError("explain: --measure makes calls on host memory only");
  if (world_size() == 1)
    throw UsageError("explain: --measure needs the ranks of a job: start the command by mpiexec -n 4, or more");
}

void run_explain(const Settings& settings) {
  if (settings.all_ranks && !settings.json) throw UsageError("explain: --all-ranks adds to the JSON: pass --json too");
  if (settings.repeats > 0 && !settings.measure) throw UsageError("explain: --repeats says how often --measure calls");
  if (settings.measure) check_measurable(settings.question);
  if (!settings.question.operation.empty()) {
    if (settings.backends) throw UsageError("explain: --backends lists all operations; omit the operation");
    show_answer(settings);
  } else if (settings.backends) {
    if (!settings.svg_file.empty()) throw UsageError("explain: --backends has no drawing");
    if (settings.measure) throw UsageError("explain: --measure needs a call: name an operation, without --backends");
    show_backends(settings);
  } else {
    throw UsageError(
        "explain: name an operation, for example: tutti explain allreduce --bytes 1MiB --ranks 8; or ask "
        "for --backends");
  }
}

void add_call(CLI::App& app, Question& question) {
  add_text(app, "operation", question.operation, "NAME", "allreduce, bcast, alltoallv, ...");
  add_text(
      app, "--bytes", question.bytes, "BYTES",
      "size of the vector (bcast, reduce, allreduce, scan, exscan) or of one block (others; tutti-commbench's sizes "
      "are those of all blocks): 64, 4KiB, 1MiB");
  add_text(app, "--type", question.type, "NAME", "datatype of the elements");
  add_text(app, "--op", question.op, "NAME", "reduction");
  add_number(app, "--root", question.root, {0, most_ranks - 1}, "root");
  add_text(app, "--kind", question.kind, "NAME", "blocking, nonblocking or persistent");
  add_text(app, "--algorithm", question.algorithm, "NAME",
           "algorithm that the call names: ring, mpi:ring, shm:slots, native, nccl, staged, ...");
  add_text(app, "--memory", question.memory, "NAME", "host or device");
  add_flag(app, "--reproducible", question.reproducible, "in reproducible mode");
}

void add_machine(CLI::App& app, Question& question) {
  add_number(app, "--ranks", question.ranks, {1, most_ranks},
             "assume this number of ranks (default: the ranks of this job, or 2 outside a job)");
  add_number(app, "--nodes", question.nodes, {1, most_ranks}, "assume this number of nodes, with ranks in blocks");
  add_text(app, "--groups", question.groups, "NODES,...",
           "assume that so many nodes one after the other are a group of the network, the largest groups first: 32,8");
  add_number(app, "--cores", question.cores, {1, 1U << 20U},
             "assume this number of processing units per node (default: as this machine)");
  add_flag(app, "--no-shm", question.no_shm, "assume that ranks cannot share memory");
  add_flag(app, "--no-single-copy", question.no_single_copy,
           "assume that no rank can copy from and to the memory of another");
  add_flag(app, "--progress-hook", question.progress_hook,
           "assume that the MPI lets operations go on inside its calls");
  add_flag(app, "--no-progress-hook", question.no_progress_hook, "assume that it does not");
  add_flag(app, "--native-blocking", question.native_blocking, "assume the communicator option native_blocking");
  add_text(app, "--nccl", question.nccl, "VERSION",
           "assume this version of NCCL, or none (default: the version that this library finds)");
  add_flag(app, "--cuda-aware", question.cuda_aware, "assume that the MPI takes device memory");
  add_flag(app, "--no-kernels", question.no_kernels, "assume that this library has no kernels for the device");
  add_text(app, "--table", question.table, "FILE",
           "file of measurements (default: the file that a communicator would find)");
}

}  // namespace

void add_explain(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* explain = app.add_subcommand("explain", "Explains the choice for a call, its reasons and its rounds");
  add_call(*explain, settings->question);
  add_machine(*explain, settings->question);
  add_number(*explain, "--rank", settings->question.rank, {0, most_ranks - 1}, "rank whose schedule is shown");
  add_flag(*explain, "--backends", settings->backends, "print the table of operations and backends");
  add_flag(*explain, "--json", settings->json, "prints JSON");
  add_flag(*explain, "--all-ranks", settings->all_ranks, "with --json: what all ranks do, as a drawing has it");
  add_flag(*explain, "--measure", settings->measure,
           "makes the call on the ranks of this job; prints when the rounds of each rank begin, and their measured and "
           "predicted times");
  add_number(*explain, "--repeats", settings->repeats, {1, 9999},
             "with --measure: number of calls; a time is their median (default: 25)");
  add_text(*explain, "--svg", settings->svg_file, "FILE",
           "writes a drawing of the schedule to this file; with --measure, of its times");
  explain->footer("tutti explain allreduce --bytes 1MiB --ranks 8 --algorithm ring --svg ring.svg");
  explain->callback([settings] { run_explain(*settings); });
}

}  // namespace tutti::tools
