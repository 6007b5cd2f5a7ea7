// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/command_line/parse.hpp"
#include "common/data/parquet_set.hpp"

namespace dlrm {

/// What `tutti-dlrm` was asked to do. Names and defaults are those of facebookresearch/dlrm's dlrm_s_pytorch.py where
/// they mean the same.
struct Options {
  // Model
  std::size_t sparse_feature_size = 2;
  std::vector<std::size_t> embedding_size{4, 3, 2};
  bool embedding_size_given = false;  ///< by a flag, not by a preset: then data does not change it
  std::vector<std::size_t> mlp_bot{4, 3, 2};
  std::vector<std::size_t> mlp_top{4, 2, 1};
  std::string interaction_op = "dot";
  bool interaction_itself = false;
  std::size_t dcn_num_layers = 3;
  std::size_t dcn_low_rank_dim = 512;

  // Loss and optimizer
  std::string loss_function = "mse";
  std::vector<double> loss_weights{1.0, 1.0};
  double loss_threshold = 0;
  bool round_targets = false;
  std::string optimizer = "sgd";
  double learning_rate = 0.01;
  double epsilon = 0;  ///< 0: the optimizer's usual one
  bool reproducible = false;
  std::size_t blocks = 12;  ///< reproducible: of a global batch; a multiple of the number of ranks
  std::uint64_t warmup_steps = 0;
  std::uint64_t decay_start_step = 0;
  std::uint64_t decay_steps = 0;

  // Placement and number formats
  std::string sharding = "auto";
  std::string row_order = "auto";
  std::uint64_t memory_limit = 0;  ///< bytes of a rank; 0: what is free
  std::uint64_t table_memory = 0;  ///< bytes of a rank; 0: all
  std::string table_folder;
  std::string table_type = "fp32";
  bool stochastic_rounding = true;
  std::string exchange_type = "fp32";
  bool pipeline = false;
  std::string compute_type = "fp32";
  bool inference_only = false;
  bool device = false;
  bool graph = false;
  bool tf32 = false;

  // Data
  std::string data_generation = "random";
  std::string data_set = "kaggle";
  std::string data;  ///< by content; name_data() makes it one of the next three
  std::string raw_data_file;
  bool day_files = false;  ///< --processed-data-file is a folder of them; name_data() finds it
  bool parquet = false;    ///< it is a file or a folder of Parquet; name_data() finds it
  tutti::miniapps::ParquetNames parquet_names;
  std::string test_data_file;
  std::string processed_data_file;
  std::string data_randomize = "auto";
  std::int64_t max_ind_range = -1;
  double data_sub_sample_rate = 0;
  std::uint64_t max_bad_lines = 0;
  std::size_t mini_batch_size = 1;
  std::size_t test_mini_batch_size = 0;  ///< 0: as mini_batch_size
  std::uint64_t data_size = 1;
  std::uint64_t num_batches = 0;
  std::uint64_t nepochs = 1;
  std::uint64_t max_steps = 0;  ///< 0: no limit
  std::size_t indices_per_lookup = 10;
  bool indices_per_lookup_fixed = false;
  std::vector<std::size_t> indices_per_feature;  ///< empty: indices_per_lookup for all
  std::string multi_hot_rule = "numpy";
  std::uint64_t multi_hot_memory = std::uint64_t{2} << 30U;
  std::string rand_data_dist = "uniform";
  double rand_data_min = 0;
  double rand_data_max = 1;
  double rand_data_mu = -1;
  double rand_data_sigma = 1;
  std::uint32_t seed = 123;
  std::string init = "numpy";
  bool debug_mode = false;
  std::int64_t prefetch = -1;  ///< batches; -1: feed_ahead() decides

  // Reports
  std::uint64_t print_freq = 1;
  std::int64_t test_freq = -1;
  double auc_threshold = 0;  ///< 0: none
  bool stop_on_nan = true;
  std::uint64_t keep_checkpoints = 1;
  bool fine_tune = false;
  bool test_at_end = true;
  std::string json_file;
  std::string mlperf_log;
  std::vector<std::size_t> bench_batches;  ///< measures with each of these batch sizes instead of training

  // Checkpoints
  std::string checkpoint_dir;
  std::uint64_t save_freq = 0;
  bool async_save = false;
  bool incremental_save = false;
  std::string load;
  std::string on_failure = "end";  ///< of another rank: end, shrink

  std::string preset;
  std::string command_line;  ///< the flags as given, for reports
};

/// Options to run with, or the reason why there is nothing to run.
struct ParseResult : tutti::command_line::Outcome {
  Options options{};
};

/// Reads the command line. Local; prints nothing and never exits. A preset's flags count as given before all others,
/// so that any flag overrides it.
[[nodiscard]] ParseResult parse_options(int argc, const char* const* argv);

/// Throws tutti::Error (invalid_argument), naming the flags, when options contradict each other.
void validate(const Options& options);

/// Whether the data are text, whose ids are numbered as they come.
[[nodiscard]] bool reads_text(const Options& options);
/// Whether the data are binary files of Criteo's records.
[[nodiscard]] bool reads_binary(const Options& options);
/// The value of --data-randomize, or what its auto stands for.
[[nodiscard]] std::string data_order(const Options& options);

struct Preset {
  std::string name;
  std::string summary;
  std::vector<std::string> flags;  ///< what `--preset name` stands for
};

/// All presets, in the order in which --help lists them.
[[nodiscard]] const std::vector<Preset>& presets();

/// The preset of a name, or null if there is none.
[[nodiscard]] const Preset* find_preset(const std::string& name);

/// "adult, kaggle, ...".
[[nodiscard]] std::string preset_names();

}  // namespace dlrm
