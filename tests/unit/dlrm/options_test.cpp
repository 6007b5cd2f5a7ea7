// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/option_ranges.hpp"

namespace dlrm {
namespace {

ParseResult parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "tutti-dlrm");
  return parse_options(static_cast<int>(flags.size()), flags.data());
}

TEST(Options, DefaultsAreTheReferences) {
  const auto result = parse({});
  ASSERT_FALSE(result.stop) << result.text;
  EXPECT_EQ(result.options.sparse_feature_size, 2U);
  EXPECT_EQ(result.options.embedding_size, (std::vector<std::size_t>{4, 3, 2}));
  EXPECT_EQ(result.options.mlp_top, (std::vector<std::size_t>{4, 2, 1}));
  EXPECT_EQ(result.options.loss_function, "mse");
  EXPECT_DOUBLE_EQ(result.options.learning_rate, 0.01);
  EXPECT_EQ(result.options.seed, 123U);
}

TEST(Options, BooleansAreBareOrHaveAValue) {
  EXPECT_TRUE(parse({"--round-targets=True"}).options.round_targets);
  EXPECT_TRUE(parse({"--round-targets"}).options.round_targets);
  EXPECT_FALSE(parse({"--round-targets=False"}).options.round_targets);
  EXPECT_TRUE(parse({"--debug-mode"}).options.debug_mode);
  EXPECT_TRUE(parse({"--num-indices-per-lookup-fixed=True"}).options.indices_per_lookup_fixed);
}

TEST(Options, LastValueWins) { EXPECT_EQ(parse({"--data-size=40", "--data-size=37"}).options.data_size, 37U); }

TEST(Options, FlagsOverridePresetsWhereverTheyStand) {
  const auto before = parse({"--mini-batch-size=64", "--preset=kaggle"});
  const auto after = parse({"--preset", "kaggle", "--mini-batch-size", "64"});
  for (const auto* result : {&before, &after}) {
    ASSERT_FALSE(result->stop) << result->text;
    EXPECT_EQ(result->options.mini_batch_size, 64U);
    EXPECT_EQ(result->options.embedding_size.size(), 26U);
  }
}

TEST(Options, MultiHotSizesAndCappedRows) {
  const auto result = parse({"--data-generation=bench", "--arch-embedding-size=9-500-70", "--max-ind-range=60",
                             "--num-indices-per-lookup-per-feature=1-20-3"});
  ASSERT_FALSE(result.stop) << result.text;
  EXPECT_EQ(result.options.indices_per_feature, (std::vector<std::size_t>{1, 20, 3}));
  EXPECT_EQ(result.options.embedding_size, (std::vector<std::size_t>{9, 60, 60}));
}

TEST(Options, MultiHotBagsOfADataSet) {
  const auto result = parse({"--preset=mlperf-v2", "--data-generation=dataset", "--raw-data-file=x",
                             "--multi-hot-rule=counter", "--multi-hot-memory=3G"});
  ASSERT_FALSE(result.stop) << result.text;
  EXPECT_EQ(result.options.indices_per_feature.size(), 26U);
  EXPECT_EQ(result.options.multi_hot_rule, "counter");
  EXPECT_EQ(result.options.multi_hot_memory, std::uint64_t{3} << 30U);
}

TEST(Options, FlagsOfTheReferencesScriptsAreTaken) {
  const auto kaggle = parse({"--data-generation=dataset", "--data-set=kaggle", "--raw-data-file=./input/train.txt",
                             "--processed-data-file=./input/kaggleAdDisplayChallenge_processed.npz", "--print-time",
                             "--test-mini-batch-size=16384", "--test-num-workers=16", "--num-workers=4"});
  ASSERT_FALSE(kaggle.stop) << kaggle.text;
  EXPECT_EQ(kaggle.options.processed_data_file, "") << "it is a cache of the raw file";
  const auto terabyte = parse(
      {"--preset=terabyte", "--processed-data-file=x", "--memory-map", "--mlperf-logging", "--mlperf-bin-loader"});
  EXPECT_FALSE(terabyte.stop) << terabyte.text;
}

TEST(Options, NamedDataAreTrained) {
  for (const char* named : {"--data=x", "--raw-data-file=x", "--processed-data-file=x"}) {
    const auto result = parse({"--preset=kaggle", named});
    ASSERT_FALSE(result.stop) << result.text;
    EXPECT_EQ(result.options.data_generation, "dataset");
    EXPECT_EQ(result.options.num_batches, 0U);
  }
}

TEST(Options, TheOrderOfSamplesIsThatOfTheFormatUnlessGiven) {
  EXPECT_EQ(data_order(parse({"--preset=kaggle", "--raw-data-file=x"}).options), "total");
  EXPECT_EQ(data_order(parse({"--preset=kaggle", "--processed-data-file=x"}).options), "none");
  EXPECT_EQ(data_order(parse({"--preset=kaggle", "--processed-data-file=x", "--data-randomize=epoch"}).options),
            "epoch");
  EXPECT_EQ(data_order(parse({"--preset=mlperf", "--processed-data-file=x", "--mlperf-bin-shuffle"}).options),
            "batches");
}

/// The reference's settings of MLPerf v3: Adagrad by element for the tables, and the quality target.
TEST(Options, MlperfV2IsTheReferences) {
  const auto result = parse({"--preset=mlperf-v2"});
  EXPECT_EQ(result.options.optimizer, "adagrad");
  EXPECT_EQ(result.options.auc_threshold, 0.80275);
  EXPECT_FALSE(parse({"--preset=mlperf-v2", "--inference-only"}).stop);
}

TEST(Options, EveryPresetParses) {
  for (const auto& preset : presets()) {
    const std::string flag = "--preset=" + preset.name;
    const auto result = parse({flag.c_str(), "--processed-data-file=x"});
    EXPECT_FALSE(result.stop) << preset.name << ": " << result.text;
  }
}

tutti::command_line::Outcome outcome_of(const std::vector<std::string>& arguments) {
  std::vector<const char*> flags;
  for (const std::string& argument : arguments) flags.push_back(argument.c_str());
  return parse(flags);
}

TEST(Options, NoneTakesAValueOutsideItsRange) { tutti::command_line::testing::expect_ranges(outcome_of, 55); }
TEST(Options, AllAreInTheHelp) { tutti::command_line::testing::expect_help(outcome_of); }

TEST(Options, ErrorsNameTheFlag) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases{
      {{"--preset=none"}, "--preset"},
      {{"--arch-mlp-bot=4-x-2"}, "--arch-mlp-bot"},
      {{"--arch-mlp-bot=4-3-5"}, "--arch-sparse-feature-size"},
      {{"--arch-mlp-top=4-2"}, "--arch-mlp-top"},
      {{"--loss-function=l1"}, "--loss-function"},
      {{"--mini-batch-size=0"}, "--mini-batch-size"},
      {{"--data-generation=dataset"}, "--raw-data-file"},
      {{"--loss-weights=1.0"}, "--loss-weights"},
      {{"--loss-weights=a-b"}, "--loss-weights"},
      {{"--save-freq=3"}, "--checkpoint-dir"},
      {{"--async-save"}, "--checkpoint-dir"},
      {{"--incremental-save"}, "--checkpoint-dir"},
      {{"--incremental-save", "--checkpoint-dir=c", "--keep-checkpoints=2"}, "--keep-checkpoints"},
      {{"--no-such-flag"}, "--no-such-flag"},
      {{"--sharding=diagonal"}, "--sharding"},
      {{"--dcn-low-rank-dim=0"}, "--dcn-low-rank-dim"},
      {{"--num-indices-per-lookup-per-feature=1-2-3"}, "--data-generation=bench"},
      {{"--num-indices-per-lookup-per-feature=1-2", "--data-generation=bench"}, "2 tables"},
      {{"--num-indices-per-lookup-per-feature=1-0", "--preset=adult"}, "'0' is not a whole number in [1, "},
      {{"--preset=adult", "--learning-rate=abc"}, "--learning-rate: 'abc' is not a number in [0, 1e+38]"},
      {{"--nepochs=-1"}, "--nepochs: '-1' is not a whole number in [1, "},
      {{"--mini-batch-size", "-3"}, "--mini-batch-size: '-3' is not"},
      {{"--learning-rate=nan"}, "'nan'"},
      {{"--memory-limit=-1"}, "--memory-limit"},
      {{"--arch-mlp-bot=13--2"}, "--arch-mlp-bot"},
      {{"--preset=terabyte", "--raw-data-file=x"}, "tutti-data"},
      {{"--preset=terabyte", "--processed-data-file=x", "--mlperf-bin-shuffle", "--data-randomize=none"},
       "--mlperf-bin-shuffle"},
      {{"--preset=terabyte", "--processed-data-file=x", "--data-randomize=day"}, "--data-randomize=day"},
      {{"--preset=kaggle", "--data=x", "--raw-data-file=y"}, "--data"},
      {{"--preset=kaggle", "--data=x", "--data-generation=bench"}, "--data"},
      {{"--num-indices-per-lookup-per-feature=1-2", "--arch-embedding-size=5", "--preset=adult"}, "2 tables"},
      {{"--multi-hot-rule=pareto"}, "--multi-hot-rule"},
      {{"--prefetch=-2"}, "--prefetch"},
      {{"--prefetch=100000"}, "--prefetch"},
      {{"--keep-checkpoints=0"}, "--keep-checkpoints"},
      {{"--fine-tune"}, "--load"},
      {{"--mlperf-auc-threshold=1.5"}, "--mlperf-auc-threshold"},
      {{"--test-data-file=x"}, "--data-generation=dataset"},
      {{"--test-data-file=x", "--preset=adult"}, "--raw-data-file"},
  };
  for (const auto& [flags, name] : cases) {
    const auto result = parse(flags);
    EXPECT_TRUE(result.stop) << flags[0];
    EXPECT_EQ(result.exit_code, 1) << flags[0];
    EXPECT_NE(result.text.find(name), std::string::npos) << result.text;
    EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 1) << result.text;
  }
}

TEST(Options, HelpEndsWellAndListsPresets) {
  const auto result = parse({"--help"});
  EXPECT_TRUE(result.stop);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.text.find("--arch-mlp-bot"), std::string::npos);
  EXPECT_NE(result.text.find("kaggle"), std::string::npos);
}

}  // namespace
}  // namespace dlrm
