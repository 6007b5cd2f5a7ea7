// SPDX-License-Identifier: BSD-3-Clause
#include "workload_flags.hpp"

#include <CLI/CLI.hpp>
#include <tutti/error.hpp>

namespace sgd {

namespace {

constexpr const char* group = "Workloads and studies";

template <typename T>
CLI::Option* add(CLI::App& app, const std::string& name, T& target, const std::string& help) {
  return app.add_option(name, target, help)->capture_default_str()->take_last()->group(group);
}

void require_flag(bool condition, const std::string& message) {
  if (!condition) throw tutti::Error(tutti::ErrorCode::invalid_argument, message);
}

}  // namespace

void add_workload_flags(CLI::App& app, WorkloadFlags& f) {
  add(app, "--workload", f.network,
      "instead of training: gradients of that network's shapes with a timed backward, by each of --study-modes in turn")
      ->check(CLI::IsMember({"resnet18", "resnet50", "bert"}));
  add(app, "--backward", f.load, "workload: sleep, as beside a GPU, or compute, the same work in every step")
      ->check(CLI::IsMember({"sleep", "compute"}));
  add(app, "--backward-ms", f.backward_ms, "workload: length of backward, each parameter's part by its size");
  add(app, "--forward-ms", f.forward_ms,
      "workload: length of forward (below 0: none; half of backward in --breakdown)");
  add(app, "--progress-interval-us", f.interval_us, "workload: computing between two calls that drive communication");
  add(app, "--study-steps", f.steps, "workload: steps measured of each mode");
  add(app, "--study-warm-up", f.warm_up, "workload: steps before them, at least");
  add(app, "--study-modes", f.methods, "of none, naive, flat, bucketed, overlap, hook=NAME; several with commas");
  add(app, "--scaling", f.scaling,
      "measures 1, 2, 4, ... of the ranks, of the workload or of the task: weak (as much work a rank) or strong (in "
      "all)")
      ->check(CLI::IsMember({"weak", "strong"}));
  app.add_flag("--breakdown", f.breakdown,
               "parts of a step: forward, backward, communication in all and exposed, update")
      ->group(group);
  app.add_flag("--sweep-buckets", f.sweep, "buckets of 0.25 to 100 MiB, and the size chosen by measurement")
      ->group(group);
  add(app, "--svg-file", f.svg_file, "draws what --scaling, --breakdown or --sweep-buckets found");
}

void validate(const WorkloadFlags& f, const Options& o) {
  const int studies = static_cast<int>(!f.scaling.empty()) + static_cast<int>(f.breakdown) + static_cast<int>(f.sweep);
  require_flag(studies <= 1, "--scaling, --breakdown and --sweep-buckets are studies of their own: choose one");
  require_flag(f.svg_file.empty() || studies == 1, "--svg-file needs --scaling, --breakdown or --sweep-buckets");
  require_flag(f.backward_ms >= 0 && f.backward_ms < 1e6, "--backward-ms must be in [0, 1e6)");
  require_flag(f.forward_ms < 1e6, "--forward-ms must be below 1e6");
  require_flag(f.interval_us > 0, "--progress-interval-us must be positive");
  require_flag(f.steps > 0, "--study-steps must be positive");
  require_flag(f.warm_up > 0, "--study-warm-up must be positive: buckets are made anew after the first step");
  require_flag(!o.compare, "--compare trains by each mode: leave it out, --study-modes says what a study compares");
  require_flag(o.load.empty() && o.checkpoint_dir.empty(),
               "studies have no checkpoints; omit --load and --checkpoint-dir");
  (void)methods_of(f, o, "flat,overlap");
}

std::vector<Method> methods_of(const WorkloadFlags& flags, const Options& options, const std::string& usual) {
  Method base;
  base.hook = options.hook;
  base.bucket_bytes = parse_bytes("--bucket-bytes", options.bucket_bytes);
  base.first_bucket_bytes = parse_bytes("--first-bucket-bytes", options.first_bucket_bytes);
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
