// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <sstream>
#include <tutti/error.hpp>

#include "validate.hpp"

namespace sgd {

namespace {

template <typename T>
CLI::Option* add(CLI::App& app, const char* group, const std::string& name, T& target, const std::string& help) {
  return app.add_option(name, target, help)->capture_default_str()->take_last()->group(group);
}

void add_choice(CLI::App& app, const char* group, const std::string& name, std::string& target,
                std::vector<std::string> choices, const std::string& help) {
  add(app, group, name, target, help)->check(CLI::IsMember(std::move(choices)));
}

std::vector<std::size_t> parse_widths(const std::string& text) {
  std::vector<std::size_t> widths;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, '-')) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || value == 0) {
      throw CLI::ValidationError("--hidden", "'" + part + "' is not a width above 0 (several are joined as in 256-64)");
    }
    widths.push_back(value);
  }
  return widths;
}

void add_data(CLI::App& app, Options& o) {
  constexpr const char* group = "Data";
  add_choice(app, group, "--data", o.data, {"adult", "generated", "libsvm", "csv"},
             "the Adult census data that ships with Tutti, samples drawn from a seed, or a file");
  add(app, group, "--train-file", o.train_file, "libsvm, csv: the training samples; adult: the folder of its files");
  add(app, group, "--test-file", o.test_file, "libsvm, csv: the test samples");
  add(app, group, "--test-share", o.test_share, "libsvm, csv without --test-file: share of the samples for testing");
  add(app, group, "--label", o.label, "csv: the column of the label, a name or a number from 0");
  app.add_flag("--csv-header,!--no-csv-header", o.csv_header, "csv: the first line has names")->group(group);
  add(app, group, "--samples", o.samples,
      "generated: training samples; a quarter of this number more are test samples");
  add(app, group, "--features", o.features, "generated: values per sample");
  add(app, group, "--classes", o.classes, "generated: classes, for softmax and mlp");
  add(app, group, "--noise", o.noise, "generated: deviation of the noise added to a target or score");
}

void add_model(CLI::App& app, Options& o) {
  constexpr const char* group = "Model";
  add_choice(app, group, "--model", o.model, {"linear", "logistic", "softmax", "mlp"},
             "linear regression, logistic regression, softmax regression, or layers with relu and softmax");
  app.add_option_function<std::string>(
         "--hidden", [&o](const std::string& text) { o.hidden = parse_widths(text); }, "mlp: widths between")
      ->type_name("N-N-...")
      ->default_str("256")
      ->take_last()
      ->group(group);
  add_choice(app, group, "--precision", o.precision, {"fp32", "fp64"}, "of parameters, gradients and products");
}

void add_training(CLI::App& app, Options& o) {
  constexpr const char* group = "Training";
  add(app, group, "--batch-size", o.batch_size, "samples per step, over all ranks");
  add(app, group, "--epochs", o.epochs, "passes over the data");
  add(app, group, "--max-steps", o.max_steps, "training ends after this many steps in all (0: no limit)");
  add_choice(app, group, "--optimizer", o.optimizer, {"sgd", "adagrad", "adam"}, "the optimizer");
  add(app, group, "--learning-rate", o.learning_rate, "the learning rate");
  add(app, group, "--momentum", o.momentum, "sgd: momentum");
  app.add_flag("--nesterov", o.nesterov, "sgd: Nesterov's momentum")->group(group);
  add(app, group, "--weight-decay", o.weight_decay, "times the parameters is added to gradients");
  add_choice(app, group, "--schedule", o.schedule, {"constant", "step", "cosine"}, "how the learning rate changes");
  add(app, group, "--warmup-steps", o.warmup_steps, "steps in which the rate rises linearly");
  add(app, group, "--decay-every", o.decay_every, "step: number of steps between decays");
  add(app, group, "--decay-factor", o.decay_factor,
      "step: factor of each decay; cosine: last rate as a share of the first");
  add(app, group, "--clip", o.clip, "largest norm of all gradients together (0: any)");
  add(app, group, "--gradient-accumulation", o.gradient_accumulation,
      "passes a global batch is computed in; only the last one communicates");
  add(app, group, "--seed", o.seed, "of weights, order and generated samples");
}

void add_communication(CLI::App& app, Options& o) {
  constexpr const char* group = "Communication";
  add(app, group, "--mode", o.mode,
      "naive (an allreduce a parameter after backward), flat (one allreduce), bucketed (buckets after backward), "
      "overlap (buckets while backward goes on), join (overlap, ranks without samples join), local (steps of one's "
      "own, "
      "then averages), parameter-server (pull and push), sharded (state of the optimizer over the ranks), "
      "hook=NAME (overlap with that hook)");
  add_choice(app, group, "--hook", o.hook, {"none", "bf16", "fp16", "powersgd"}, "how buckets are compressed");
  add(app, group, "--power-sgd-rank", o.power_sgd_rank, "powersgd: columns of a factor");
  add(app, group, "--power-sgd-start", o.power_sgd_start, "powersgd: steps before it that are not compressed");
  add(app, group, "--local-steps", o.local_steps, "local: steps between two averages");
  add(app, group, "--server-fence", o.server_fence,
      "parameter-server: steps between two fences; 1 gives the losses of the other modes, 0 fences no step");
  add(app, group, "--bucket-bytes", o.bucket_bytes, "most bytes of a bucket (K and M are known), or auto");
  add(app, group, "--first-bucket-bytes", o.first_bucket_bytes, "the same for the first one");
  add(app, group, "--communicators", o.communicators, "communicators that buckets take turns on");
  app.add_flag("--progress-thread", o.progress_thread, "a thread drives communication")->group(group);
  app.add_flag("--check", o.check, "finds gradients that change while they are reduced")->group(group);
  app.add_flag("--reproducible", o.reproducible, "sums in a fixed order, for any algorithm")->group(group);
  app.add_flag("--compare", o.compare, "trains by each mode from the same start and prints a table")->group(group);
}

void add_reports(CLI::App& app, Options& o) {
  constexpr const char* group = "Reports and checkpoints";
  add(app, group, "--print-freq", o.print_freq, "steps between two printed losses");
  app.add_flag("--test-at-end,!--no-test-at-end", o.test_at_end, "tests when training ends")->group(group);
  app.add_flag("--print-map", o.print_map, "prints which parameter is in which bucket")->group(group);
  add(app, group, "--json-file", o.json_file, "writes configuration, losses, test results and times to this file");
  add(app, group, "--checkpoint-dir", o.checkpoint_dir, "folder of checkpoints");
  add(app, group, "--save-freq", o.save_freq, "steps between two checkpoints (0: one at the end)");
  add(app, group, "--keep-checkpoints", o.keep_checkpoints,
      "last checkpoints to keep; more than one: in folders step-N below --checkpoint-dir");
  add(app, group, "--load", o.load, "folder of a checkpoint to continue from; of several the last");
  app.add_flag("--stop-on-nan,!--no-stop-on-nan", o.stop_on_nan,
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

void parse(CLI::App& app, int argc, const char* const* argv, Options& o,
           std::span<const std::unique_ptr<Study>> studies) {
  for (int i = 1; i < argc; ++i) {
    o.command_line += std::string(i == 1 ? "" : " ") + argv[i];
  }
  app.parse(argc, argv);
  split_mode(o);
  validate(o);
  for (const auto& study : studies) {
    if (study->selected()) {
      study->validate(o);
    }
  }
}

}  // namespace

std::size_t parse_bytes(const std::string& flag, const std::string& text) {
  if (text == "auto") {
    return 0;
  }
  std::size_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const std::string unit(end, last);
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  if (error != std::errc{} || (shift == 0 && !unit.empty()) || value == 0 || value > (std::size_t{1} << 33U)) {
    throw tutti::Error(
        tutti::ErrorCode::invalid_argument,
        flag + ": '" + text + "' is not a size in bytes; pass a positive number like 65536, 64K or 25M, or auto");
  }
  return value << shift;
}

ParseResult parse_options(int argc, const char* const* argv, std::span<const std::unique_ptr<Study>> studies) {
  ParseResult result;
  CLI::App app{
      "Trains linear and logistic regression, softmax and MLPs data-parallel over MPI, each step from naive to "
      "overlapped by a flag.\nRun it as: mpiexec -n 2 tutti-sgd --data adult --compare"};
  app.name("tutti-sgd");
  app.set_version_flag("--version", "tutti-sgd 0.1.0");
  add_data(app, result.options);
  add_model(app, result.options);
  add_training(app, result.options);
  add_communication(app, result.options);
  add_reports(app, result.options);
  for (const auto& study : studies) {
    study->add_flags(app);
  }
  try {
    parse(app, argc, argv, result.options, studies);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    result.stop = true;
    result.exit_code = code == 0 ? 0 : 1;
    result.text = code == 0 ? out.str() : "tutti-sgd: " + std::string(error.what()) + " (see --help)\n";
  } catch (const tutti::Error& error) {
    result.stop = true;
    result.exit_code = 1;
    result.text = "tutti-sgd: " + std::string(error.what()) + "\n";
  }
  return result;
}

}  // namespace sgd
