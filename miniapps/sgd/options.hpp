// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/command_line/parse.hpp"
#include "study.hpp"

namespace sgd {

/// What `tutti-sgd` was asked to do.
struct Options {
  // Data
  std::string data = "adult";  ///< adult, generated, libsvm, csv
  std::string train_file;
  std::string test_file;
  double test_share = 0.2;  ///< of the samples, where a file has no test file beside it
  std::string label = "0";  ///< csv: column by name or number
  bool csv_header = true;
  std::uint64_t samples = 10000;  ///< generated: training samples
  std::size_t features = 64;      ///< generated
  std::size_t classes = 2;        ///< generated, for classification
  double noise = 0.1;             ///< generated

  // Model
  std::string model = "logistic";  ///< linear, logistic, softmax, mlp
  std::vector<std::size_t> hidden{256};
  std::string precision = "fp32";

  // Optimizer
  std::string optimizer = "sgd";  ///< sgd, adagrad, adam
  double learning_rate = 0.1;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  std::string schedule = "constant";  ///< constant, step, cosine
  std::uint64_t warmup_steps = 0;
  std::uint64_t decay_every = 1000;
  double decay_factor = 0.1;
  double clip = 0;  ///< 0: not
  std::size_t batch_size = 256;
  std::uint64_t epochs = 1;
  std::uint64_t max_steps = 0;  ///< 0: no limit
  std::size_t gradient_accumulation = 1;
  std::uint64_t seed = 1;

  // Communication
  std::string mode = "overlap";
  std::string hook = "none";
  std::size_t power_sgd_rank = 2;
  std::size_t power_sgd_start = 10;
  std::size_t local_steps = 8;
  std::size_t server_fence = 1;                       ///< steps between two fences; 0: only where an epoch ends
  std::size_t bucket_bytes = std::size_t{25} << 20U;  ///< ReducerOptions::automatic: by measurement
  std::size_t first_bucket_bytes = std::size_t{1} << 20U;
  std::size_t communicators = 1;
  bool progress_thread = false;
  bool check = false;
  bool reproducible = false;
  std::size_t blocks = 12;  ///< reproducible: of a global batch
  bool compare = false;

  // Reports
  std::uint64_t print_freq = 50;
  std::string json_file;
  std::string checkpoint_dir;
  std::uint64_t save_freq = 0;
  std::uint64_t keep_checkpoints = 1;
  bool stop_on_nan = true;
  std::string load;
  std::string on_failure = "end";  ///< of another rank: end, shrink
  bool test_at_end = true;
  bool print_map = false;
  std::string command_line;  ///< as given, for reports
};

/// Options to run with, or the reason why there is nothing to run.
struct ParseResult : tutti::command_line::Outcome {
  Options options{};
};

/// Reads the command line. Local; throws nothing. Studies add their flags and are asked to validate.
[[nodiscard]] ParseResult parse_options(int argc, const char* const* argv,
                                        std::span<const std::unique_ptr<Study>> studies);

/// Throws tutti::Error (invalid_argument), naming the flags, when options contradict each other.
void validate(const Options& options);

}  // namespace sgd
