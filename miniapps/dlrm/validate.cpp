// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <tutti/error.hpp>

namespace dlrm {

namespace {

void require(bool condition, const std::string& message) {
  if (!condition) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument, message);
  }
}

void validate_model(const Options& o) {
  require(o.mlp_bot.size() >= 2, "--arch-mlp-bot needs at least two widths");
  require(o.mlp_bot.back() == o.sparse_feature_size,
          "--arch-mlp-bot ends with " + std::to_string(o.mlp_bot.back()) + " but --arch-sparse-feature-size is " +
              std::to_string(o.sparse_feature_size) + "; they must be equal");
  require(o.mlp_top.back() == 1, "--arch-mlp-top must end with 1");
}

void validate_training(const Options& o) {
  require(o.rand_data_min <= o.rand_data_max, "--rand-data-min is above --rand-data-max; swap them");
  require(o.loss_weights.size() == 2, "--loss-weights needs two values, as in 1.0-1.0");
  require(o.decay_steps == 0 || o.warmup_steps > 0 || o.decay_start_step <= 1,
          "--lr-num-decay-steps without --lr-num-warmup-steps needs --lr-decay-start-step 1 or less");
  require(
      !o.reproducible || (!o.device && o.table_type == "fp32" && o.exchange_type == "fp32" && o.compute_type == "fp32"),
      "--reproducible is of fp32 on the host; omit --device, --table-type, --exchange-type and --compute-type");
  require(!o.inference_only || o.test_freq < 1, "--inference-only does not train; omit --test-freq");
  require(!o.inference_only || o.save_freq == 0, "--inference-only does not train; omit --save-freq");
  require(o.mlperf_log.empty() || (!o.inference_only && o.bench_batches.empty()),
          "--mlperf-log is of a training; omit it, or --inference-only and --bench-batches");
}

void validate_multi_hot(const Options& o) {
  if (o.indices_per_feature.empty()) {
    return;
  }
  require(o.data_generation != "random",
          "--num-indices-per-lookup-per-feature needs --data-generation=bench or dataset");
  const bool rows_known = o.data_generation == "bench" || o.embedding_size_given;
  require(!rows_known || o.indices_per_feature.size() == o.embedding_size.size(),
          "--num-indices-per-lookup-per-feature names " + std::to_string(o.indices_per_feature.size()) +
              " tables but --arch-embedding-size has " + std::to_string(o.embedding_size.size()));
}

void validate_data(const Options& o) {
  if (o.data_generation == "dataset") {
    const bool only_tests = o.inference_only && !o.load.empty() && !o.test_data_file.empty();
    const bool is_named = !o.raw_data_file.empty() || !o.processed_data_file.empty();
    require(o.data.empty() || !is_named,
            "--data names the data as --raw-data-file and --processed-data-file do; give one of them");
    require(o.data_set == "adult" || !o.data.empty() || is_named || only_tests,
            "--data-generation=dataset needs --data, --raw-data-file or --processed-data-file (or --data-set=adult, "
            "which ships with Tutti; or --test-data-file with --inference-only and --load)");
    require(o.test_data_file.empty() || !o.data.empty() || (o.data_set != "adult" && o.processed_data_file.empty()),
            "--test-data-file is Criteo text beside --raw-data-file; omit --processed-data-file and --data-set=adult");
    require(o.data_randomize != "day" || o.data_set == "adult" || o.processed_data_file.empty(),
            "--data-randomize=day is for Criteo text; use total, epoch, batches, interleaved or none");
    require(o.data_set != "terabyte" || !o.data.empty() || !o.processed_data_file.empty(),
            "--data-set=terabyte is read from --processed-data-file=PREFIX only; make it of the day files: tutti-data "
            "convert FOLDER -o PREFIX");
  } else {
    require(o.data.empty() && o.raw_data_file.empty() && o.processed_data_file.empty(),
            "--data-generation=" + o.data_generation +
                " reads no file; omit it, or omit --data, --raw-data-file and "
                "--processed-data-file");
    require(o.data_size > 0 || o.num_batches > 0, "--data-size 0 needs --num-batches above 0; raise one of them");
  }
  validate_multi_hot(o);
  require(o.test_data_file.empty() || o.data_generation == "dataset",
          "--test-data-file needs --data-generation=dataset");
  require(o.save_freq == 0 || !o.checkpoint_dir.empty(), "--save-freq needs --checkpoint-dir");
  require(!o.async_save || !o.checkpoint_dir.empty(), "--async-save needs --checkpoint-dir");
  require(!o.incremental_save || !o.checkpoint_dir.empty(), "--incremental-save needs --checkpoint-dir");
  require(!o.incremental_save || o.keep_checkpoints == 1,
          "--incremental-save adds to the one checkpoint of --checkpoint-dir; omit --keep-checkpoints");
  require(!o.fine_tune || !o.load.empty(), "--fine-tune needs --load");
}

void validate_device(const Options& o) {
  require((o.table_memory > 0) == !o.table_folder.empty(),
          "--table-memory and --table-folder go together; give both, or none for tables in memory");
  require(!o.device || o.table_memory == 0, "--table-memory is of tables on the host; omit it, or --device");
  require(o.device || !o.graph, "--graph needs --device; add --device or omit --graph");
  require(o.device || !o.tf32, "--tf32 needs --device; add --device or omit --tf32");
  require(!o.device || !o.pipeline, "--device overlaps batch copies with steps by itself; omit --pipeline");
  require(!o.graph || o.optimizer != "adam",
          "--graph fixes the step number, which --optimizer=adam must advance; omit one of them");
  require(!o.graph || o.table_type == "fp32" || !o.stochastic_rounding,
          "--graph fixes the step number, which stochastic rounding must advance; add --no-stochastic-rounding");
}

void validate_bench(const Options& o) {
  if (o.bench_batches.empty()) {
    return;
  }
  require(o.data_generation == "bench", "--bench-batches needs --data-generation=bench, or a preset that has it");
  require(o.num_batches > 0, "--bench-batches needs --num-batches: the steps of a measurement");
  require(o.load.empty() && o.checkpoint_dir.empty() && !o.inference_only,
          "--bench-batches only measures; omit --load, --checkpoint-dir and --inference-only");
}

}  // namespace

bool reads_binary(const Options& o) {
  return o.data_generation == "dataset" && o.data_set != "adult" && !o.processed_data_file.empty() && !o.day_files &&
         !o.parquet;
}

bool reads_text(const Options& o) {
  return o.data_generation == "dataset" && o.data_set != "adult" && o.processed_data_file.empty();
}

std::string data_order(const Options& o) {
  return o.data_randomize != "auto" ? o.data_randomize : reads_text(o) || o.data_set == "adult" ? "total" : "none";
}

void validate(const Options& options) {
  validate_model(options);
  validate_training(options);
  validate_data(options);
  validate_device(options);
  validate_bench(options);
}

}  // namespace dlrm
