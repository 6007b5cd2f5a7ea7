// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>
#include <tutti/error.hpp>

#include "presets.hpp"
#include "validate.hpp"

namespace dlrm {

namespace {

template <typename T>
T parse_number(const std::string& name, const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) {
    throw CLI::ValidationError(name, "'" + text + "' is not a number (several are joined by '-', as in 13-512-16)");
  }
  return value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  std::string part;
  while (std::getline(stream, part, '-')) {
    parts.push_back(part);
  }
  return parts;
}

template <typename T>
void add_list(CLI::App& app, const std::string& name, std::vector<T>& target, const std::string& help) {
  std::ostringstream shown;
  for (std::size_t i = 0; i < target.size(); ++i) {
    shown << (i == 0 ? "" : "-") << target[i];
  }
  const auto set = [&target, name](const std::string& text) {
    target.clear();
    for (const auto& part : split(text)) {
      target.push_back(parse_number<T>(name, part));
    }
  };
  app.add_option_function<std::string>(name, set, help)->type_name("N-N-...")->default_str(shown.str())->take_last();
}

template <typename T>
CLI::Option* add(CLI::App& app, const std::string& name, T& target, const std::string& help) {
  return app.add_option(name, target, help)->capture_default_str()->take_last();
}

void add_choice(CLI::App& app, const std::string& name, std::string& target, std::vector<std::string> choices,
                const std::string& help) {
  add(app, name, target, help)->check(CLI::IsMember(std::move(choices)));
}

void add_model(CLI::App& app, Options& o) {
  add(app, "--arch-sparse-feature-size", o.sparse_feature_size, "length D of an embedding vector");
  add_list(app, "--arch-embedding-size", o.embedding_size, "rows of each table (a data set says so itself)");
  add_list(app, "--arch-mlp-bot", o.mlp_bot, "widths of the bottom MLP, from the dense features to D");
  add_list(app, "--arch-mlp-top", o.mlp_top, "widths of the top MLP after the interaction");
  add_choice(app, "--arch-interaction-op", o.interaction_op, {"dot", "cat", "dcn"},
             "how features meet; dcn: a low-rank cross network");
  add(app, "--dcn-num-layers", o.dcn_num_layers, "dcn: layers of the cross network");
  add(app, "--dcn-low-rank-dim", o.dcn_low_rank_dim, "dcn: rank of a layer's matrix");
  app.add_flag("--arch-interaction-itself", o.interaction_itself, "a feature's product with itself counts too");
}

void add_training(CLI::App& app, Options& o) {
  add_choice(app, "--loss-function", o.loss_function, {"mse", "bce", "wbce"}, "the loss");
  add_list(app, "--loss-weights", o.loss_weights, "weights of the classes 0 and 1 for wbce");
  add(app, "--loss-threshold", o.loss_threshold, "t > 0: predictions are kept in [t, 1-t]");
  app.add_flag("--round-targets", o.round_targets, "targets are rounded to 0 and 1");
  add_choice(app, "--optimizer", o.optimizer, {"sgd", "adagrad", "rwsadagrad", "adam"}, "the optimizer");
  add(app, "--learning-rate", o.learning_rate, "the learning rate");
  add(app, "--lr-num-warmup-steps", o.warmup_steps, "steps of linear warm-up");
  add(app, "--lr-decay-start-step", o.decay_start_step, "first step of the quadratic decay");
  add(app, "--lr-num-decay-steps", o.decay_steps, "steps of the quadratic decay");
  add(app, "--mini-batch-size", o.mini_batch_size, "samples per step, over all ranks");
  add(app, "--nepochs", o.nepochs, "passes over the data");
  add(app, "--max-steps", o.max_steps, "training ends after this many steps in all (0: no limit)");
  add(app, "--numpy-rand-seed", o.seed, "seed of weights and random data");
  add_choice(app, "--init", o.init, {"numpy", "fast"},
             "first weights: numpy's stream, or a quick one for measurements");
  app.add_flag("--debug-mode", o.debug_mode, "walks over the data once before the weights are drawn");
}

void add_placement(CLI::App& app, Options& o) {
  add_choice(app, "--sharding", o.sharding,
             {"auto", "data-parallel", "table-wise", "row-wise", "column-wise", "row-wise-on-node", "mixed"},
             "how tables are spread over the ranks");
  add(app, "--memory-limit", o.memory_limit,
      "memory of a rank's tables with their optimizer state (0: all free memory)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES[K|M|G]");
  add_choice(app, "--table-type", o.table_type, {"fp32", "bf16", "fp16", "int8"},
             "type of stored rows; int8 has a scale per row");
  app.add_flag("--stochastic-rounding,!--no-stochastic-rounding", o.stochastic_rounding,
               "updates of bf16, fp16 and int8 rows round at random, by seed, step and place");
  app.add_flag("--pipeline", o.pipeline,
               "overlap lookup and exchange of the next batch with the dense part of this batch");
  add_choice(app, "--compute-type", o.compute_type, {"fp32", "bf16"},
             "operand type of the matrix products; weights, sums and gradients of weights stay fp32");
  app.add_flag("--device", o.device, "compute entirely on GPUs, which the ranks of a node take in turn");
  app.add_flag("--graph", o.graph, "device: steps of one shape and learning rate are launched as a CUDA graph");
  app.add_flag("--tf32", o.tf32, "device: products of fp32 may be rounded to TF32");
  app.add_flag("--inference-only", o.inference_only, "predicts only; throughput and latency of the batches");
}

void add_data(CLI::App& app, Options& o) {
  add_choice(app, "--data-generation", o.data_generation, {"random", "dataset", "bench"},
             "random batches as the reference makes them, a data set, or a few prepared batches for measurements");
  add_choice(app, "--data-set", o.data_set, {"kaggle", "terabyte", "adult"}, "which data set");
  add(app, "--raw-data-file", o.raw_data_file, "text file of Criteo's Kaggle data; for adult the folder of its files");
  add(app, "--test-data-file", o.test_data_file,
      "text file whose samples are all test samples, instead of the last seventh of --raw-data-file; ids that training "
      "or the checkpoint of --load has not seen get rows of their own");
  add(app, "--processed-data-file", o.processed_data_file,
      "prefix of binary files PREFIX_train.bin and PREFIX_test.bin");
  add_choice(app, "--data-randomize", o.data_randomize, {"total", "day", "none"}, "how training samples are shuffled");
  add(app, "--max-ind-range", o.max_ind_range, "category numbers are taken modulo this when positive");
  add(app, "--data-sub-sample-rate", o.data_sub_sample_rate, "share of the samples of class 0 to leave out");
  add(app, "--max-bad-lines", o.max_bad_lines, "malformed lines of text that are skipped before it is an error");
  add(app, "--test-mini-batch-size", o.test_mini_batch_size, "samples of a test batch (0: as in training)");
  add(app, "--data-size", o.data_size, "random: number of samples");
  add(app, "--num-batches", o.num_batches, "random: number of batches, instead of --data-size; data set: stop after");
  add(app, "--num-indices-per-lookup", o.indices_per_lookup, "random: lookups per bag");
  app.add_flag("--num-indices-per-lookup-fixed", o.indices_per_lookup_fixed, "random: exactly this number of lookups");
  add_list(app, "--num-indices-per-lookup-per-feature", o.indices_per_feature,
           "multi-hot: lookups per bag, one number per table; the ids of a data set become fixed bags");
  add_choice(app, "--multi-hot-rule", o.multi_hot_rule, {"numpy", "counter"},
             "multi-hot, data set: MLPerf's bags, or others that take no memory");
  add(app, "--multi-hot-memory", o.multi_hot_memory, "multi-hot, data set: largest memory of the bags of a rank")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES[K|M|G]");
  add_choice(app, "--rand-data-dist", o.rand_data_dist, {"uniform", "gaussian"}, "random: distribution of indices");
  add(app, "--rand-data-min", o.rand_data_min, "random, gaussian: least value");
  add(app, "--rand-data-max", o.rand_data_max, "random, gaussian: greatest value");
  add(app, "--rand-data-mu", o.rand_data_mu, "random, gaussian: mean (-1: the middle)");
  add(app, "--rand-data-sigma", o.rand_data_sigma, "random, gaussian: deviation");
  add(app, "--prefetch", o.prefetch,
      "batches that a thread reads or makes ahead, beside the steps (0: in the step; -1: 2 where every rank has a core "
      "for the thread, else 0); the batches are the same");
}

void add_reports(CLI::App& app, Options& o) {
  add(app, "--print-freq", o.print_freq, "steps between two printed losses");
  add(app, "--test-freq", o.test_freq, "steps between two tests (-1: one, at the end)");
  add(app, "--mlperf-auc-threshold", o.auc_threshold, "training ends at the first test with this AUC (0: no limit)");
  app.add_flag("--test-at-end,!--no-test-at-end", o.test_at_end, "test when training ends, if there is test data");
  add(app, "--json-file", o.json_file, "writes configuration, losses, test results and times to this file");
  add_list(app, "--bench-batches", o.bench_batches,
           "trains --num-batches steps with each of these batch sizes and prints a table of times, as in "
           "--preset=mlperf-v1-bench --device --bench-batches=2048-8192-32768-65536");
  add(app, "--checkpoint-dir", o.checkpoint_dir, "folder of checkpoints");
  add(app, "--save-freq", o.save_freq, "steps between two checkpoints (0: one at the end)");
  add(app, "--keep-checkpoints", o.keep_checkpoints,
      "last checkpoints to keep; more than one: in folders step-N below --checkpoint-dir");
  app.add_flag("--stop-on-nan,!--no-stop-on-nan", o.stop_on_nan,
               "end with an error when the loss or a parameter is not a number; such a state is never saved");
  add(app, "--load", o.load, "folder of a checkpoint to continue from, on any number of ranks; of several the last");
  app.add_flag("--fine-tune", o.fine_tune,
               "with --load: begin at step 0, with any seed, loss, data and batch size; else they must be those of the "
               "checkpoint");
}

/// As category numbers of a data set are taken modulo --max-ind-range, so are those of prepared batches.
void cap_rows(Options& o) {
  if (o.data_generation != "bench" || o.max_ind_range <= 0) {
    return;
  }
  for (std::size_t& rows : o.embedding_size) {
    rows = std::min(rows, static_cast<std::size_t>(o.max_ind_range));
  }
}

std::string preset_text() {
  std::ostringstream text;
  text << "Presets (any flag overrides them):\n";
  for (const auto& p : presets()) {
    text << "  " << p.name << ": " << p.summary << "\n     ";
    for (const auto& f : p.flags) {
      text << " " << f;
    }
    text << "\n";
  }
  return text.str();
}

std::string preset_of(const std::vector<std::string>& arguments) {
  std::string name;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--preset=")) {
      name = arguments[i].substr(9);
    } else if (arguments[i] == "--preset" && i + 1 < arguments.size()) {
      name = arguments[i + 1];
    }
  }
  return name;
}

}  // namespace

ParseResult parse_options(int argc, const char* const* argv) {
  ParseResult result;
  CLI::App app{
      "Trains DLRM, the deep learning recommendation model, over MPI: embedding tables spread over the ranks, "
      "MLPs data parallel.\nRun it as: mpiexec -n 2 tutti-dlrm --preset adult"};
  app.name("tutti-dlrm");
  app.set_version_flag("--version", "tutti-dlrm 0.1.0");
  add(app, "--preset", result.options.preset, "a set of flags, listed below");
  add_model(app, result.options);
  add_training(app, result.options);
  add_placement(app, result.options);
  add_data(app, result.options);
  add_reports(app, result.options);
  app.footer(preset_text());
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    for (const auto& argument : arguments) {
      result.options.command_line += " " + argument;
    }
    result.options.embedding_size_given = std::any_of(arguments.begin(), arguments.end(), [](const std::string& a) {
      return a.starts_with("--arch-embedding-size");
    });
    if (const auto name = preset_of(arguments); !name.empty()) {
      const auto& flags = find_preset(name).flags;
      arguments.insert(arguments.begin(), flags.begin(), flags.end());
    }
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(arguments);
    cap_rows(result.options);
    validate(result.options);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    result.stop = true;
    result.exit_code = code == 0 ? 0 : 1;
    result.text = code == 0 ? out.str() : "tutti-dlrm: " + std::string(error.what()) + " (see --help)\n";
  } catch (const tutti::Error& error) {
    result.stop = true;
    result.exit_code = 1;
    result.text = "tutti-dlrm: " + std::string(error.what()) + "\n";
  }
  return result;
}

}  // namespace dlrm
