// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include "backends/list.hpp"
#include "common/command_line/options.hpp"
#include "core/config.hpp"
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

// A schedule is made for every rank of them.
constexpr int most_ranks = 1 << 20;

struct Settings {
  Question question;
  bool backends = false;
  bool json = false;
  bool all_ranks = false;
  std::string svg_file;
};

void show_backends(const Settings& settings) {
  const Surroundings surroundings = surroundings_of(settings.question);
  if (!is_root()) return;
  const BackendTable table = backend_table(surroundings);
  print(settings.json ? backends_json(table) : backends_text(table));
}

void show_answer(const Settings& settings) {
  Surroundings surroundings = surroundings_of(settings.question);
  detail::Signature signature = signature_of(settings.question, static_cast<int>(surroundings.topology.places.size()));
  if (!is_root()) return;
  signature.reproducible = signature.reproducible || detail::config().reproducible;
  signature.accumulation = detail::accumulation_of(signature.accumulation);
  if (!signature.algorithm.empty()) {
    surroundings.named_by = "--algorithm";
  } else if (const auto name = detail::tuning::override_for(signature.operation); !name.empty()) {
    signature.algorithm = name;
    surroundings.named_by = "TUTTI_ALGORITHM";
  }
  const Answer found = answer(Case(std::move(signature), std::move(surroundings), settings.question.rank));
  if (!settings.svg_file.empty()) {
    check_drawable(found);
    write_drawing(settings.svg_file, answer_json(found, true));
  }
  if (settings.json)
    print(answer_json(found, settings.all_ranks));
  else
    print(answer_text(found));
}

void run_explain(const Settings& settings) {
  if (settings.all_ranks && !settings.json) throw UsageError("explain: --all-ranks adds to the JSON: pass --json too");
  if (!settings.question.operation.empty()) {
    if (settings.backends) throw UsageError("explain: --backends lists all operations; omit the operation");
    show_answer(settings);
  } else if (settings.backends) {
    if (!settings.svg_file.empty()) throw UsageError("explain: --backends has no drawing");
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
  add_text(*explain, "--svg", settings->svg_file, "FILE", "writes a drawing of the schedule to this file");
  explain->footer("tutti explain allreduce --bytes 1MiB --ranks 8 --algorithm ring --svg ring.svg");
  explain->callback([settings] { run_explain(*settings); });
}

}  // namespace tutti::tools
