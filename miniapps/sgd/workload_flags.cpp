// SPDX-License-Identifier: BSD-3-Clause
#include "workload_flags.hpp"

#include <tutti/error.hpp>

#include "common/command_line/options.hpp"

namespace sgd {

namespace {

using namespace tutti::command_line;

constexpr const char* group = "Workloads and studies";
constexpr double most_ms = 1e6;

void require_flag(bool condition, const std::string& message) {
  if (!condition) throw tutti::Error(tutti::ErrorCode::invalid_argument, message);
}

}  // namespace

void add_workload_flags(CLI::App& app, WorkloadFlags& f) {
  add_choice(app, "--workload", f.network, {"resnet18", "resnet50", "bert"},
             "instead of training: gradients of that network's shapes with a timed backward, by each of --study-modes "
             "in turn")
      ->group(group);
  add_choice(app, "--backward", f.load, {"sleep", "compute"},
             "workload: sleep, as beside a GPU, or compute, the same work in every step")
      ->group(group);
  add_number(app, "--backward-ms", f.backward_ms, {0, most_ms},
             "workload: length of backward, each parameter's part by its size")
      ->group(group);
  add_number(app, "--forward-ms", f.forward_ms, {-1, most_ms},
             "workload: length of forward (below 0: none; half of backward in --breakdown)")
      ->group(group);
  add_number(app, "--progress-interval-us", f.interval_us, {0, 1e9, true},
             "workload: computing between two calls that drive communication")
      ->group(group);
  add_number(app, "--study-steps", f.steps, {1, 1000000}, "workload: steps measured of each mode")->group(group);
  add_number(app, "--study-warm-up", f.warm_up, {1, 1000000},
             "workload: steps before them, at least; buckets are made anew after the first")
      ->group(group);
  add_text(app, "--study-modes", f.methods, "NAME,...",
           "of none, naive, flat, bucketed, overlap, hook=NAME; several with commas")
      ->group(group);
  add_choice(app, "--scaling", f.scaling, {"weak", "strong"},
             "measures 1, 2, 4, ... of the ranks, of the workload or of the task: weak (as much work a rank) or strong "
             "(in all)")
      ->group(group);
  add_flag(app, "--breakdown", f.breakdown,
           "parts of a step: forward, backward, communication in all and exposed, update")
      ->group(group);
  add_flag(app, "--sweep-buckets", f.sweep, "buckets of 0.25 to 100 MiB, and the size chosen by measurement")
      ->group(group);
  add_text(app, "--svg-file", f.svg_file, "FILE", "draws what --scaling, --breakdown or --sweep-buckets found")
      ->group(group);
}

void validate(const WorkloadFlags& f, const Options& o) {
  const int studies = static_cast<int>(!f.scaling.empty()) + static_cast<int>(f.breakdown) + static_cast<int>(f.sweep);
  require_flag(studies <= 1, "--scaling, --breakdown and --sweep-buckets are studies of their own: choose one");
  require_flag(f.svg_file.empty() || studies == 1, "--svg-file needs --scaling, --breakdown or --sweep-buckets");
  (void)methods_of(f, o, "flat,overlap");
  if (studies == 0 && f.network.empty()) return;
  require_flag(!o.compare, "--compare trains by each mode: leave it out, --study-modes says what a study compares");
  require_flag(o.load.empty() && o.checkpoint_dir.empty(),
               "studies have no checkpoints; omit --load and --checkpoint-dir");
}

std::vector<Method> methods_of(const WorkloadFlags& flags, const Options& options, const std::string& usual) {
  Method base;
  base.hook = options.hook;
  base.bucket_bytes = options.bucket_bytes;
  base.first_bucket_bytes = options.first_bucket_bytes;
  base.communicators = options.communicators;
  base.progress_thread = options.progress_thread;
  base.power_sgd_rank = options.power_sgd_rank;
  base.power_sgd_start = options.power_sgd_start;
  return parse_methods("--study-modes", flags.methods.empty() ? usual : flags.methods, base);
}

Workload workload_of(const WorkloadFlags& flags) {
  Workload workload;
  workload.network = flags.network;
  workload.load = {flags.load == "compute" ? Load::compute : Load::sleep, flags.interval_us};
  workload.backward_ms = flags.backward_ms;
  const double usual_forward = flags.breakdown ? flags.backward_ms / 2 : 0;
  workload.forward_ms = flags.forward_ms < 0 ? usual_forward : flags.forward_ms;
  workload.updates = flags.breakdown;
  workload.steps = flags.steps;
  workload.warm_up = flags.warm_up;
  return workload;
}

}  // namespace sgd
