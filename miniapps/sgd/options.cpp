// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <tutti/version.hpp>

#include "common/command_line/options.hpp"
#include "common/command_line/parse.hpp"

namespace sgd {

namespace {

using namespace tutti::command_line;

constexpr std::size_t most_width = 1U << 20U;
constexpr std::size_t most_samples = std::size_t{1} << 31U;
constexpr std::size_t most_bucket = std::size_t{1} << 33U;

void add_data(CLI::App& app, Options& o) {
  constexpr const char* group = "Data";
  add_choice(app, "--data", o.data, {"adult", "generated", "libsvm", "csv"},
             "the Adult census data that ships with Tutti, samples drawn from a seed, or a file")
      ->group(group);
  add_text(app, "--train-file", o.train_file, "FILE",
           "libsvm, csv: the training samples; adult: the folder of its files")
      ->group(group);
  add_text(app, "--test-file", o.test_file, "FILE", "libsvm, csv: the test samples")->group(group);
  add_number(app, "--test-share", o.test_share, {0, 1, false, true},
             "libsvm, csv without --test-file: share of the samples for testing")
      ->group(group);
  add_text(app, "--label", o.label, "NAME", "csv: the column of the label, a name or a number from 0")->group(group);
  add_flag(app, "--csv-header,!--no-csv-header", o.csv_header, "csv: the first line has names")->group(group);
  add_number(app, "--samples", o.samples, {1, most_counted},
             "generated: training samples; a quarter of this number more are test samples")
      ->group(group);
  add_number(app, "--features", o.features, {1, most_width}, "generated: values per sample")->group(group);
  add_number(app, "--classes", o.classes, {2, most_width}, "generated: classes, for softmax and mlp")->group(group);
  add_number(app, "--noise", o.noise, {0, 1e6}, "generated: deviation of the noise added to a target or score")
      ->group(group);
}

void add_model(CLI::App& app, Options& o) {
  constexpr const char* group = "Model";
  add_choice(app, "--model", o.model, {"linear", "logistic", "softmax", "mlp"},
             "linear regression, logistic regression, softmax regression, or layers with relu and softmax")
      ->group(group);
  add_numbers(app, "--hidden", o.hidden, '-', {1, most_width}, "mlp: widths between")->group(group);
  add_choice(app, "--precision", o.precision, {"fp32", "fp64"}, "of parameters, gradients and products")->group(group);
}

void add_training(CLI::App& app, Options& o) {
  constexpr const char* group = "Training";
  add_number(app, "--batch-size", o.batch_size, {1, most_samples}, "samples per step, over all ranks")->group(group);
  add_number(app, "--epochs", o.epochs, {1, most_counted}, "passes over the data")->group(group);
  add_number(app, "--max-steps", o.max_steps, {0, most_counted},
             "training ends after this many steps in all (0: no limit)")
      ->group(group);
  add_choice(app, "--optimizer", o.optimizer, {"sgd", "adagrad", "adam"}, "the optimizer")->group(group);
  add_number(app, "--learning-rate", o.learning_rate, {0, 1e38}, "the learning rate")->group(group);
  add_number(app, "--momentum", o.momentum, {0, 1, false, true}, "sgd: momentum")->group(group);
  add_flag(app, "--nesterov", o.nesterov, "sgd: Nesterov's momentum")->group(group);
  add_number(app, "--weight-decay", o.weight_decay, {0, 1e6}, "times the parameters is added to gradients")
      ->group(group);
  add_choice(app, "--schedule", o.schedule, {"constant", "step", "cosine"}, "how the learning rate changes")
      ->group(group);
  add_number(app, "--warmup-steps", o.warmup_steps, {0, most_counted}, "steps in which the rate rises linearly")
      ->group(group);
  add_number(app, "--decay-every", o.decay_every, {1, most_counted}, "step: number of steps between decays")
      ->group(group);
  add_number(app, "--decay-factor", o.decay_factor, {0, 1},
             "step: factor of each decay; cosine: last rate as a share of the first")
      ->group(group);
  add_number(app, "--clip", o.clip, {0, 1e30}, "largest norm of all gradients together (0: any)")->group(group);
  add_number(app, "--gradient-accumulation", o.gradient_accumulation, {1, 1000000},
             "passes a global batch is computed in; only the last one communicates")
      ->group(group);
  add_number(app, "--seed", o.seed, {}, "of weights, order and generated samples")->group(group);
}

void add_communication(CLI::App& app, Options& o) {
  constexpr const char* group = "Communication";
  add_text(app, "--mode", o.mode, "NAME",
           "naive (an allreduce a parameter after backward), flat (one allreduce), bucketed (buckets after backward), "
           "overlap (buckets while backward goes on), join (overlap, ranks without samples join), local (steps of "
           "one's own, then averages), parameter-server (pull and push), sharded (state of the optimizer over the "
           "ranks), hook=NAME (overlap with that hook)")
      ->group(group);
  add_choice(app, "--hook", o.hook, {"none", "bf16", "fp16", "powersgd"}, "how buckets are compressed")->group(group);
  add_number(app, "--power-sgd-rank", o.power_sgd_rank, {1, 4096}, "powersgd: columns of a factor")->group(group);
  add_number(app, "--power-sgd-start", o.power_sgd_start, {0, most_counted},
             "powersgd: steps before it that are not compressed")
      ->group(group);
  add_number(app, "--local-steps", o.local_steps, {1, most_counted}, "local: steps between two averages")->group(group);
  add_number(app, "--server-fence", o.server_fence, {0, most_counted},
             "parameter-server: steps between two fences; 1 gives the losses of the other modes, 0 fences no step")
      ->group(group);
  add_bytes(app, "--bucket-bytes", o.bucket_bytes, {1, most_bucket}, "most bytes of a bucket, or auto", "auto")
      ->group(group);
  add_bytes(app, "--first-bucket-bytes", o.first_bucket_bytes, {1, most_bucket}, "the same for the first one")
      ->group(group);
  add_number(app, "--communicators", o.communicators, {1, 64}, "communicators that buckets take turns on")
      ->group(group);
  add_flag(app, "--progress-thread", o.progress_thread, "a thread drives communication")->group(group);
  add_flag(app, "--check", o.check, "finds gradients that change while they are reduced")->group(group);
  add_flag(
      app, "--reproducible", o.reproducible,
      "the same bits on any number of ranks up to --blocks: a batch is computed in so many blocks, whose gradients "
      "are added exactly")
      ->group(group);
  add_number(app, "--blocks", o.blocks, {1, 65536}, "reproducible: blocks of a global batch")->group(group);
  add_flag(app, "--compare", o.compare, "trains by each mode from the same start and prints a table")->group(group);
}

void add_reports(CLI::App& app, Options& o) {
  constexpr const char* group = "Reports and checkpoints";
  add_number(app, "--print-freq", o.print_freq, {1, most_counted}, "steps between two printed losses")->group(group);
  add_flag(app, "--test-at-end,!--no-test-at-end", o.test_at_end, "tests when training ends")->group(group);
  add_flag(app, "--print-map", o.print_map, "prints which parameter is in which bucket")->group(group);
  add_text(app, "--json-file", o.json_file, "FILE", "writes configuration, losses, test results and times to this file")
      ->group(group);
  add_text(app, "--checkpoint-dir", o.checkpoint_dir, "FOLDER", "folder of checkpoints")->group(group);
  add_number(app, "--save-freq", o.save_freq, {0, most_counted}, "steps between two checkpoints (0: one at the end)")
      ->group(group);
  add_number(app, "--keep-checkpoints", o.keep_checkpoints, {1, most_counted},
             "last checkpoints to keep; more than one: in folders step-N below --checkpoint-dir")
      ->group(group);
  add_text(app, "--load", o.load, "FOLDER", "folder of a checkpoint to continue from; of several the last")
      ->group(group);
  add_choice(app, "--on-failure", o.on_failure, {"end", "shrink"},
             "when a rank dies: end, or go on with the others from the last checkpoint of --checkpoint-dir")
      ->group(group);
  add_flag(app, "--stop-on-nan,!--no-stop-on-nan", o.stop_on_nan,
           "end with an error when the loss or a parameter is not a number (not with --compare); such a state is "
           "never saved")
      ->group(group);
}

/// --mode=hook=bf16 is --mode=overlap --hook=bf16.
void split_mode(Options& o) {
  if (o.mode.starts_with("hook=")) {
    o.hook = o.mode.substr(5);
    o.mode = "overlap";
  }
}

}  // namespace

ParseResult parse_options(int argc, const char* const* argv, std::span<const std::unique_ptr<Study>> studies) {
  ParseResult result;
  Options& options = result.options;
  CLI::App app{
      "Trains linear and logistic regression, softmax and MLPs data-parallel over MPI, each step from naive to "
      "overlapped by a flag.\nRun it as: mpiexec -n 2 tutti-sgd --data adult --compare"};
  app.name("tutti-sgd");
  add_data(app, options);
  add_model(app, options);
  add_training(app, options);
  add_communication(app, options);
  add_reports(app, options);
  for (const auto& study : studies) {
    study->add_flags(app);
  }
  add_helps(app, "tutti-sgd " TUTTI_VERSION_STRING);
  const std::vector<std::string> arguments = arguments_of(argc, argv);
  for (const std::string& argument : arguments) {
    options.command_line += (options.command_line.empty() ? "" : " ") + argument;
  }
  static_cast<Outcome&>(result) = parse(app, arguments, [&] {
    split_mode(options);
    validate(options);
    for (const auto& study : studies) {
      study->validate(options);
    }
  });
  return result;
}

}  // namespace sgd
