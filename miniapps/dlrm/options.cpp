// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <sstream>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "common/command_line/options.hpp"
#include "common/command_line/parse.hpp"
#include "common/data/parquet_options.hpp"

namespace dlrm {

namespace {

using namespace tutti::command_line;

constexpr std::size_t most_width = 1U << 20U;
constexpr std::size_t most_rows = std::size_t{1} << 40U;
constexpr std::size_t most_samples = std::size_t{1} << 31U;
constexpr std::size_t most_lookups = 1U << 20U;
// Each takes the memory of a batch.
constexpr std::int64_t most_prefetch = 1024;
constexpr NumberRange<double> any_number{-1e300, 1e300};

void add_model(CLI::App& app, Options& o) {
  add_number(app, "--arch-sparse-feature-size", o.sparse_feature_size, {1, most_width},
             "length D of an embedding vector");
  add_numbers(app, "--arch-embedding-size", o.embedding_size, '-', {1, most_rows},
              "rows of each table (a data set says so itself)");
  add_numbers(app, "--arch-mlp-bot", o.mlp_bot, '-', {1, most_width},
              "widths of the bottom MLP, from the dense features to D");
  add_numbers(app, "--arch-mlp-top", o.mlp_top, '-', {1, most_width}, "widths of the top MLP after the interaction");
  add_choice(app, "--arch-interaction-op", o.interaction_op, {"dot", "cat", "dcn"},
             "how features meet; dcn: a low-rank cross network");
  add_number(app, "--dcn-num-layers", o.dcn_num_layers, {1, 1000}, "dcn: layers of the cross network");
  add_number(app, "--dcn-low-rank-dim", o.dcn_low_rank_dim, {1, most_width}, "dcn: rank of a layer's matrix");
  add_flag(app, "--arch-interaction-itself", o.interaction_itself, "a feature's product with itself counts too");
}

void add_training(CLI::App& app, Options& o) {
  add_choice(app, "--loss-function", o.loss_function, {"mse", "bce", "wbce"}, "the loss");
  add_numbers(app, "--loss-weights", o.loss_weights, '-', {0, 1e9}, "weights of the classes 0 and 1 for wbce");
  add_number(app, "--loss-threshold", o.loss_threshold, {0, 0.5, false, true},
             "t > 0: predictions are kept in [t, 1-t]");
  add_flag(app, "--round-targets", o.round_targets, "targets are rounded to 0 and 1");
  add_choice(app, "--optimizer", o.optimizer, {"sgd", "adagrad", "rwsadagrad", "adam"}, "the optimizer");
  add_number(app, "--learning-rate", o.learning_rate, {0, 1e38}, "the learning rate");
  add_number(app, "--eps", o.epsilon, {0, 1e38}, "adagrad, rwsadagrad, adam: added to the root (0: 1e-10, adam 1e-8)");
  add_number(app, "--lr-num-warmup-steps", o.warmup_steps, {0, most_counted}, "steps of linear warm-up");
  add_number(app, "--lr-decay-start-step", o.decay_start_step, {0, most_counted}, "first step of the quadratic decay");
  add_number(app, "--lr-num-decay-steps", o.decay_steps, {0, most_counted}, "steps of the quadratic decay");
  add_number(app, "--mini-batch-size", o.mini_batch_size, {1, most_samples}, "samples per step, over all ranks");
  add_number(app, "--nepochs", o.nepochs, {1, most_counted}, "passes over the data");
  add_number(app, "--max-steps", o.max_steps, {0, most_counted},
             "training ends after this many steps in all (0: no limit)");
  add_number(app, "--numpy-rand-seed", o.seed, {}, "seed of weights and random data");
  add_choice(app, "--init", o.init, {"numpy", "fast"},
             "first weights: numpy's stream, or a quick one for measurements");
  add_flag(app, "--reproducible", o.reproducible,
           "the same bits on any number of ranks that divides --blocks, for plans without divided rows: a batch is "
           "computed in so many blocks, whose gradients are added exactly");
  add_number(app, "--blocks", o.blocks, {1, 65536}, "reproducible: blocks of a global batch");
  add_flag(app, "--debug-mode", o.debug_mode, "walks over the data once before the weights are drawn");
}

void add_placement(CLI::App& app, Options& o) {
  add_choice(app, "--sharding", o.sharding,
             {"auto", "data-parallel", "table-wise", "row-wise", "column-wise", "row-wise-on-node", "mixed"},
             "how tables are spread over the ranks");
  add_choice(app, "--row-order", o.row_order, {"auto", "blocks", "cyclic"},
             "how row-wise tables deal rows to the ranks: blocks of neighbors, or row r to rank r % ranks");
  add_bytes(app, "--memory-limit", o.memory_limit, {0, most_bytes},
            "memory of a rank's tables with their optimizer state (0: all free memory)");
  add_bytes(app, "--table-memory", o.table_memory, {0, most_bytes},
            "for tables larger than memory: memory of a rank's rows with their optimizer state; files of "
            "--table-folder have all of them, and the losses are the same (0: all in memory)");
  add_text(app, "--table-folder", o.table_folder, "FOLDER",
           "folder of those files, on a disk of each node; they have no names, and end with the program");
  add_choice(app, "--table-type", o.table_type, {"fp32", "bf16", "fp16", "int8"},
             "type of stored rows; int8 has a scale per row");
  add_flag(app, "--stochastic-rounding,!--no-stochastic-rounding", o.stochastic_rounding,
           "updates of bf16, fp16 and int8 rows round at random, by seed, step and place");
  add_choice(app, "--exchange-type", o.exchange_type, {"fp32", "bf16", "fp16"},
             "type in which vectors and their gradients travel between ranks; sums stay fp32");
  add_flag(app, "--pipeline", o.pipeline,
           "overlap lookup and exchange of the next batch with the dense part of this batch");
  add_choice(app, "--compute-type", o.compute_type, {"fp32", "bf16"},
             "operand type of the matrix products; weights, sums and gradients of weights stay fp32");
  add_flag(app, "--device", o.device, "compute entirely on GPUs, which the ranks of a node take in turn");
  add_flag(app, "--graph", o.graph, "device: steps of one shape and learning rate are launched as a CUDA graph");
  add_flag(app, "--tf32", o.tf32, "device: products of fp32 may be rounded to TF32");
  add_flag(app, "--inference-only", o.inference_only, "predicts only; throughput and latency of the batches");
}

void add_samples(CLI::App& app, Options& o) {
  add_choice(app, "--data-generation", o.data_generation, {"random", "dataset", "bench"},
             "random batches as the reference makes them, a data set, or a few prepared batches for measurements; "
             "dataset where a data file is named");
  add_choice(app, "--data-set", o.data_set, {"kaggle", "terabyte", "adult"}, "which data set");
  add_text(app, "--data", o.data, "PATH",
           "data of any of these formats, which is found by the content: Criteo text, plain, gzip or zstd, a folder of "
           "it in "
           "day_0, day_1, ..., the prefix of binary files or one of them, a folder of arrays of days "
           "(day_0_dense.npy, ...), a file or folder of Parquet, or a folder with Adult's files");
  add_parquet_names(app, o.parquet_names);
  add_text(app, "--raw-data-file", o.raw_data_file, "FILE",
           "text file of Criteo's Kaggle data; for adult the folder of its files");
  add_text(
      app, "--test-data-file", o.test_data_file, "FILE",
      "text file whose samples are all test samples, instead of the last seventh of --raw-data-file; ids that "
      "training or the checkpoint of --load has not seen get rows of their own, which move the stream of the first "
      "weights: losses are others than without");
  add_text(app, "--processed-data-file", o.processed_data_file, "FILE",
           "prefix of binary files PREFIX_train.bin and PREFIX_test.bin");
  add_choice(
      app, "--data-randomize", o.data_randomize, {"auto", "total", "day", "epoch", "batches", "interleaved", "none"},
      "order of the training samples of files: the reference's shuffle, one for all epochs (total; day: within "
      "each day of text); anew in each epoch, computed, so that it takes no memory (epoch: all samples; batches: "
      "whole batches, which are read in one go); interleaved: each batch takes the next samples of 24 stretches of the "
      "data, of which a rank reads its own; none: as in the file; auto: total for text, none for others");
  add_number(app, "--max-ind-range", o.max_ind_range, {-1, static_cast<std::int64_t>(most_rows)},
             "category numbers are taken modulo this when positive");
  add_number(app, "--data-sub-sample-rate", o.data_sub_sample_rate, {0, 1, false, true},
             "share of the samples of class 0 to leave out");
  add_number(app, "--max-bad-lines", o.max_bad_lines, {0, most_counted},
             "malformed lines of text that are skipped before it is an error");
  add_number(app, "--test-mini-batch-size", o.test_mini_batch_size, {0, most_samples},
             "samples of a test batch (0: as in training)");
  add_number(app, "--data-size", o.data_size, {0, most_counted}, "random: number of samples");
  add_number(app, "--num-batches", o.num_batches, {0, most_counted},
             "random: number of batches, instead of --data-size; data set: stop after");
  add_number(app, "--prefetch", o.prefetch, {-1, most_prefetch},
             "batches that a thread reads or makes ahead, beside the steps (0: in the step; -1: 2 where every rank has "
             "a core for the thread, else 0); the batches are the same");
}

void add_lookups(CLI::App& app, Options& o) {
  add_number(app, "--num-indices-per-lookup", o.indices_per_lookup, {1, most_lookups}, "random: lookups per bag");
  add_flag(app, "--num-indices-per-lookup-fixed", o.indices_per_lookup_fixed, "random: exactly this number of lookups");
  add_numbers(app, "--num-indices-per-lookup-per-feature", o.indices_per_feature, '-', {1, most_lookups},
              "multi-hot: lookups per bag, one number per table; the ids of a data set become fixed bags");
  add_choice(app, "--multi-hot-rule", o.multi_hot_rule, {"numpy", "counter"},
             "multi-hot, data set: MLPerf's bags, or others that take no memory");
  add_bytes(app, "--multi-hot-memory", o.multi_hot_memory, {0, most_bytes},
            "multi-hot, data set: largest memory of the bags of a rank");
  add_choice(app, "--rand-data-dist", o.rand_data_dist, {"uniform", "gaussian"}, "random: distribution of indices");
  add_number(app, "--rand-data-min", o.rand_data_min, any_number, "random, gaussian: least value");
  add_number(app, "--rand-data-max", o.rand_data_max, any_number, "random, gaussian: greatest value");
  add_number(app, "--rand-data-mu", o.rand_data_mu, any_number, "random, gaussian: mean (-1: the middle)");
  add_number(app, "--rand-data-sigma", o.rand_data_sigma, {0, 1e300}, "random, gaussian: deviation");
}

void add_reports(CLI::App& app, Options& o) {
  add_number(app, "--print-freq", o.print_freq, {1, most_counted}, "steps between two printed losses");
  add_number(app, "--test-freq", o.test_freq, {-1, static_cast<std::int64_t>(most_counted)},
             "steps between two tests (-1: one, at the end)");
  add_number(app, "--mlperf-auc-threshold", o.auc_threshold, {0, 1},
             "training ends at the first test with this AUC (0: no limit)");
  add_flag(app, "--test-at-end,!--no-test-at-end", o.test_at_end, "test when training ends, if there is test data");
  add_text(app, "--json-file", o.json_file, "FILE",
           "writes configuration, losses, test results and times to this file");
  add_text(
      app, "--mlperf-log", o.mlperf_log, "FILE",
      "writes the lines by which MLPerf's rules judge a run to this file: begin and end of the run and of each test, "
      "the AUC, how it trains");
  add_numbers(app, "--bench-batches", o.bench_batches, '-', {1, most_samples},
              "trains --num-batches steps with each of these batch sizes and prints a table of times, as in "
              "--preset=mlperf-v1-bench --device --bench-batches=2048-8192-32768-65536");
  add_text(app, "--checkpoint-dir", o.checkpoint_dir, "FOLDER", "folder of checkpoints");
  add_number(app, "--save-freq", o.save_freq, {0, most_counted}, "steps between two checkpoints (0: one at the end)");
  add_number(app, "--keep-checkpoints", o.keep_checkpoints, {1, most_counted},
             "last checkpoints to keep; more than one: in folders step-N below --checkpoint-dir");
  add_flag(app, "--async-save", o.async_save,
           "a thread of each rank writes the checkpoint, with the same bytes, while training goes on");
  add_flag(
      app, "--incremental-save", o.incremental_save,
      "a checkpoint has only the rows that changed since the one before, in files beside it; the first is full, and "
      "whenever these files have come to have as many bytes, another one");
  add_choice(app, "--on-failure", o.on_failure, {"end", "shrink"},
             "when a rank dies: end, or go on with the others from the last checkpoint of --checkpoint-dir");
  add_flag(app, "--stop-on-nan,!--no-stop-on-nan", o.stop_on_nan,
           "end with an error when the loss or a parameter is not a number; such a state is never saved");
  add_text(app, "--load", o.load, "FOLDER",
           "folder of a checkpoint to continue from, on any number of ranks; of several the last");
  add_flag(app, "--fine-tune", o.fine_tune,
           "with --load: begin at step 0, with any seed, loss, data and batch size; else they must be those of the "
           "checkpoint");
}

/// Flags of the reference's scripts that change nothing here, or are another name.
struct Accepted {
  bool print_time = false;
  bool memory_map = false;
  bool mlperf_logging = false;
  bool mlperf_bin_loader = false;
  bool mlperf_bin_shuffle = false;
  std::size_t num_workers = 0;
  std::size_t test_num_workers = 0;
};

void add_accepted(CLI::App& app, Accepted& a) {
  add_flag(app, "--print-time", a.print_time, "as the reference's; times are always printed");
  add_flag(app, "--memory-map", a.memory_map, "as the reference's; files are never read as a whole");
  add_flag(app, "--mlperf-logging", a.mlperf_logging,
           "as the reference's; MLPerf's log is not written, see --json-file");
  add_flag(app, "--mlperf-bin-loader", a.mlperf_bin_loader, "as the reference's; binary files are always read so");
  add_flag(app, "--mlperf-bin-shuffle", a.mlperf_bin_shuffle, "as --data-randomize=batches");
  constexpr std::size_t most_workers = 1U << 20U;
  add_number(app, "--num-workers", a.num_workers, {0, most_workers}, "as the reference's; --prefetch decides here");
  add_number(app, "--test-num-workers", a.test_num_workers, {0, most_workers},
             "as the reference's; test batches are read by their rank");
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

/// What the user has passed, and the preset need not decide.
struct Given {
  bool generation = false;
  bool batches = false;
};

/// Named data are trained, all of them, also with a preset that makes batches.
void use_named_data(Options& o, const Given& given) {
  if (!o.raw_data_file.empty() && o.processed_data_file.ends_with(".npz")) {
    o.processed_data_file.clear();  // the reference's cache of the raw file
  }
  const bool is_named = !o.data.empty() || !o.raw_data_file.empty() || !o.processed_data_file.empty();
  if (is_named && !given.generation) {
    o.data_generation = "dataset";
  }
  if (o.data_generation == "dataset" && !given.batches) {
    o.num_batches = 0;
  }
}

void shuffle_batches(Options& o) {
  if (o.data_randomize != "auto" && o.data_randomize != "batches") {
    throw tutti::Error(tutti::ErrorCode::invalid_argument,
                       "--mlperf-bin-shuffle is --data-randomize=batches, but --data-randomize=" + o.data_randomize +
                           " is given too; omit one of them");
  }
  o.data_randomize = "batches";
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
  Options& options = result.options;
  CLI::App app{
      "Trains DLRM, the deep learning recommendation model, over MPI: embedding tables spread over the ranks, "
      "MLPs data parallel.\nRun it as: mpiexec -n 2 tutti-dlrm --preset adult"};
  app.name("tutti-dlrm");
  add_text(app, "--preset", options.preset, "NAME", "a set of flags, listed below");
  add_model(app, options);
  add_training(app, options);
  add_placement(app, options);
  add_samples(app, options);
  add_lookups(app, options);
  add_reports(app, options);
  Accepted accepted;
  add_accepted(app, accepted);
  app.footer(preset_text() + parquet_text());
  add_helps(app, "tutti-dlrm " TUTTI_VERSION_STRING);
  std::vector<std::string> arguments = arguments_of(argc, argv);
  for (const auto& argument : arguments) {
    options.command_line += " " + argument;
  }
  const auto is_given = [&arguments](std::string_view flag) {
    return std::any_of(arguments.begin(), arguments.end(), [flag](std::string_view a) {
      return a.starts_with(flag) && (a.size() == flag.size() || a[flag.size()] == '=');
    });
  };
  options.embedding_size_given = is_given("--arch-embedding-size");
  const Given given{is_given("--data-generation"), is_given("--num-batches")};
  const std::string name = preset_of(arguments);
  if (const Preset* preset = find_preset(name)) {
    arguments.insert(arguments.begin(), preset->flags.begin(), preset->flags.end());
  } else if (!name.empty()) {
    return {{true, 1, "tutti-dlrm: --preset: '" + name + "' is none of " + preset_names() + "\n"}, {}};
  }
  static_cast<Outcome&>(result) = parse(app, std::move(arguments), [&] {
    use_named_data(options, given);
    if (accepted.mlperf_bin_shuffle) {
      shuffle_batches(options);
    }
    cap_rows(options);
    validate(options);
  });
  return result;
}

}  // namespace dlrm
