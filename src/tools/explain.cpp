// SPDX-License-Identifier: BSD-3-Clause
#include "tools/explain.hpp"
#include "backends/names.hpp"

#include <memory>

#include "core/config.hpp"
#include "planner/overrides.hpp"
#include "tools/answer.hpp"
#include "tools/backends.hpp"
#include "tools/program.hpp"
#include "tools/surroundings.hpp"

namespace tutti::tools {
namespace {

struct Settings {
  Question question;
  bool backends = false;
  bool json = false;
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
  if (!signature.algorithm.empty()) {
    surroundings.named_by = "--algorithm";
  } else if (const auto name = detail::tuning::override_for(signature.operation); !name.empty()) {
    signature.algorithm = name;
    surroundings.named_by = "TUTTI_ALGORITHM";
  }
  const Answer found = answer(Case(std::move(signature), std::move(surroundings), settings.question.rank));
  if (!settings.svg_file.empty()) write_file(settings.svg_file, answer_drawing(found).str());
  if (settings.json)
    print(answer_json(found));
  else
    print(answer_text(found));
}

void run_explain(const Settings& settings) {
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
  app.add_option("operation", question.operation, "allreduce, bcast, alltoallv, …");
  app.add_option("--bytes", question.bytes,
                 "size of the vector (bcast, reduce, allreduce, scan, exscan) or of one block (others): 64, 4KiB, 1MiB")
      ->capture_default_str();
  app.add_option("--type", question.type, "datatype of the elements")->capture_default_str();
  app.add_option("--op", question.op, "reduction")->capture_default_str();
  app.add_option("--root", question.root, "root")->capture_default_str();
  app.add_option("--kind", question.kind, "blocking, nonblocking or persistent")->capture_default_str();
  app.add_option("--algorithm", question.algorithm,
                 "algorithm that the call names: ring, mpi:ring, shm:slots, native, nccl, staged, …");
  app.add_option("--memory", question.memory, "host or device")->capture_default_str();
  app.add_flag("--reproducible", question.reproducible, "in reproducible mode");
}

void add_machine(CLI::App& app, Question& question) {
  app.add_option("--ranks", question.ranks,
                 "assume this number of ranks (default: the ranks of this job, or 2 outside a job)");
  app.add_option("--nodes", question.nodes, "assume this number of nodes, with ranks in blocks");
  app.add_option("--cores", question.cores,
                 "assume this number of processing units per node (default: as this machine)");
  app.add_flag("--no-shm", question.no_shm, "assume that ranks cannot share memory");
  app.add_flag("--no-single-copy", question.no_single_copy,
               "assume that no rank can copy from and to the memory of another");
  app.add_flag("--native-blocking", question.native_blocking, "assume the communicator option native_blocking");
  app.add_option("--nccl", question.nccl,
                 "assume this version of NCCL, or none (default: the version that this library finds)");
  app.add_flag("--cuda-aware", question.cuda_aware, "assume that the MPI takes device memory");
  app.add_flag("--no-kernels", question.no_kernels, "assume that this library has no kernels for the device");
  app.add_option("--table", question.table, "file of measurements (default: the file that a communicator would find)");
}

}  // namespace

void add_explain(CLI::App& app) {
  const auto settings = std::make_shared<Settings>();
  CLI::App* explain = app.add_subcommand("explain", "Explains the choice for a call, its reasons and its steps");
  add_call(*explain, settings->question);
  add_machine(*explain, settings->question);
  explain->add_option("--rank", settings->question.rank, "rank whose schedule is shown")->capture_default_str();
  explain->add_flag("--backends", settings->backends, "print the table of operations and backends");
  explain->add_flag("--json", settings->json, "prints JSON");
  explain->add_option("--svg", settings->svg_file, "writes a drawing of the schedule to this file");
  explain->footer("tutti explain allreduce --bytes 1MiB --ranks 8 --algorithm ring --svg ring.svg");
  explain->callback([settings] { run_explain(*settings); });
}

}  // namespace tutti::tools
