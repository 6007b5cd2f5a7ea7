// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

namespace dlrm {

namespace {

// The Kaggle row counts with every table capped at a million rows, so that the model fits a small machine.
constexpr const char* kaggle_rows =
    "--arch-embedding-size=1460-583-1000000-1000000-305-24-12517-633-3-93145-5683-1000000-3194-27-14992-1000000-10-"
    "5652-2173-4-1000000-18-15-286181-105-142572";

// MLPerf training v0.7 and v1: rows of each table.
constexpr const char* mlperf_v1_rows =
    "--arch-embedding-size=39884406-39043-17289-7420-20263-3-7120-1543-63-38532951-2953546-403346-10-2208-11938-155-4-"
    "976-14-39979771-25641295-39664984-585935-12972-108-36";

// MLPerf training v3: rows of each table, and its lookups of a sample.
constexpr const char* mlperf_v2_rows =
    "--arch-embedding-size=40000000-39060-17295-7424-20265-3-7122-1543-63-40000000-3067956-405282-10-2209-11938-155-4-"
    "976-14-40000000-40000000-40000000-590152-12973-108-36";
constexpr const char* mlperf_v2_lookups =
    "--num-indices-per-lookup-per-feature=3-2-1-2-6-1-1-1-1-7-3-8-1-6-9-5-1-1-1-12-100-27-10-3-1-1";

Preset mlperf_v1(const char* name) {
  return {
      name,
      "MLPerf v0.7 and v1 model, forty million rows at most; needs --processed-data-file",
      {"--data-generation=dataset", "--data-set=terabyte", "--max-ind-range=40000000", "--arch-sparse-feature-size=128",
       "--arch-mlp-bot=13-512-256-128", "--arch-mlp-top=1024-1024-512-256-1", "--loss-function=bce", "--round-targets",
       "--learning-rate=1.0", "--mini-batch-size=2048", "--test-mini-batch-size=16384", "--print-freq=2048",
       "--lr-num-warmup-steps=8000", "--lr-decay-start-step=70000", "--lr-num-decay-steps=30000"}};
}

std::vector<Preset> make_presets() {
  return {
      {"adult",
       "the Adult census data that ships with Tutti: income above 50K",
       {"--data-generation=dataset", "--data-set=adult", "--arch-sparse-feature-size=16", "--arch-mlp-bot=7-64-16",
        "--arch-mlp-top=64-32-1", "--loss-function=bce", "--optimizer=rwsadagrad", "--learning-rate=0.02",
        "--mini-batch-size=256", "--test-mini-batch-size=1024", "--nepochs=4", "--print-freq=32"}},
      {"kaggle",
       "Criteo Kaggle model, tables capped at a million rows; measures with prepared random batches unless data is "
       "named",
       {"--data-generation=bench", "--data-set=kaggle", "--arch-sparse-feature-size=16", kaggle_rows,
        "--arch-mlp-bot=13-512-256-64-16", "--arch-mlp-top=512-256-1", "--num-indices-per-lookup=1",
        "--num-indices-per-lookup-fixed", "--loss-function=bce", "--round-targets", "--learning-rate=0.1",
        "--mini-batch-size=128", "--num-batches=300", "--print-freq=100", "--init=fast"}},
      {"bench",
       "the shape of dlrm_s_benchmark.sh: eight tables of a million rows, 100 lookups a bag",
       {"--data-generation=bench", "--arch-sparse-feature-size=64",
        "--arch-embedding-size=1000000-1000000-1000000-1000000-1000000-1000000-1000000-1000000",
        "--arch-mlp-bot=512-512-64", "--arch-mlp-top=1024-1024-1024-1", "--num-indices-per-lookup=100",
        "--num-indices-per-lookup-fixed", "--loss-function=bce", "--round-targets", "--numpy-rand-seed=727",
        "--mini-batch-size=2048", "--num-batches=30", "--print-freq=10", "--init=fast"}},
      {"terabyte",
       "Criteo Terabyte model, ten million rows at most; needs --processed-data-file",
       {"--data-generation=dataset", "--data-set=terabyte", "--max-ind-range=10000000", "--arch-sparse-feature-size=64",
        "--arch-mlp-bot=13-512-256-64", "--arch-mlp-top=512-512-256-1", "--loss-function=bce", "--round-targets",
        "--learning-rate=0.1", "--mini-batch-size=2048", "--test-mini-batch-size=16384", "--print-freq=1024"}},
      mlperf_v1("mlperf-v1"),
      mlperf_v1("mlperf"),
      {"mlperf-v1-bench",
       "MLPerf v0.7 and v1 model with prepared random batches, to measure steps; tables capped at a million rows, "
       "which "
       "--max-ind-range changes",
       {"--data-generation=bench", "--max-ind-range=1000000", "--arch-sparse-feature-size=128", mlperf_v1_rows,
        "--arch-mlp-bot=13-512-256-128", "--arch-mlp-top=1024-1024-512-256-1", "--num-indices-per-lookup=1",
        "--num-indices-per-lookup-fixed", "--loss-function=bce", "--round-targets", "--learning-rate=0.1",
        "--mini-batch-size=2048", "--num-batches=100", "--print-freq=100", "--init=fast"}},
      {"mlperf-v2",
       "MLPerf v3 model, DCNv2 with several lookups a bag; tables capped at a million rows, which --max-ind-range "
       "changes; measures with prepared random batches, or trains with --data-generation=dataset and a file, "
       "with --test-freq until MLPerf's AUC is reached",
       {"--data-generation=bench",
        "--max-ind-range=1000000",
        "--arch-sparse-feature-size=128",
        mlperf_v2_rows,
        mlperf_v2_lookups,
        "--arch-mlp-bot=13-512-256-128",
        "--arch-mlp-top=1024-1024-512-256-1",
        "--arch-interaction-op=dcn",
        "--dcn-num-layers=3",
        "--dcn-low-rank-dim=512",
        "--loss-function=bce",
        "--round-targets",
        "--optimizer=adagrad",
        "--eps=1e-8",
        "--learning-rate=0.005",
        "--mini-batch-size=2048",
        "--mlperf-auc-threshold=0.80275",
        "--num-batches=20",
        "--print-freq=5",
        "--init=fast"}},
  };
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = make_presets();
  return all;
}

const Preset* find_preset(const std::string& name) {
  for (const auto& p : presets()) {
    if (p.name == name) {
      return &p;
    }
  }
  return nullptr;
}

std::string preset_names() {
  std::string names;
  for (const auto& p : presets()) {
    names += (names.empty() ? "" : ", ") + p.name;
  }
  return names;
}

}  // namespace dlrm
