// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/option_ranges.hpp"

namespace sgd {
namespace {

ParseResult parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "tutti-sgd");
  return parse_options(static_cast<int>(flags.size()), flags.data(), make_studies());
}

TEST(Options, HooksAreModesToo) {
  for (const auto& flags : {std::vector<const char*>{"--mode=hook=bf16"}, {"--mode", "overlap", "--hook", "bf16"}}) {
    const auto result = parse(flags);
    ASSERT_FALSE(result.stop) << result.text;
    EXPECT_EQ(result.options.mode, "overlap");
    EXPECT_EQ(result.options.hook, "bf16");
  }
}

TEST(Options, WidthsAndBytes) {
  EXPECT_EQ(parse({"--hidden=512-64"}).options.hidden, (std::vector<std::size_t>{512, 64}));
  EXPECT_EQ(parse({"--bucket-bytes=64K"}).options.bucket_bytes, 65536U);
  EXPECT_EQ(parse({"--bucket-bytes=auto"}).options.bucket_bytes, 0U);
  EXPECT_EQ(parse({}).options.bucket_bytes, std::size_t{25} << 20U);
}

TEST(Options, OnFailureIsEndOrShrink) {
  EXPECT_EQ(parse({}).options.on_failure, "end");
  EXPECT_EQ(parse({"--on-failure=shrink"}).options.on_failure, "shrink");
  EXPECT_NE(parse({"--on-failure=pray"}).exit_code, 0);
}

TEST(Options, HelpHasGroups) {
  const auto help = parse({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* group : {"Data:", "Model:", "Training:", "Communication:", "Reports and checkpoints:"}) {
    EXPECT_NE(help.text.find(group), std::string::npos) << group;
  }
}

tutti::command_line::Outcome outcome_of(const std::vector<std::string>& arguments) {
  std::vector<const char*> flags;
  for (const std::string& argument : arguments) flags.push_back(argument.c_str());
  return parse(flags);
}

TEST(Options, NoneTakesAValueOutsideItsRange) { tutti::command_line::testing::expect_ranges(outcome_of, 50); }
TEST(Options, AllAreInTheHelp) { tutti::command_line::testing::expect_help(outcome_of); }

TEST(Options, ErrorsNameTheFlag) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases{
      {{"--mode=fast"}, "--mode=fast"},
      {{"--mode=hook=none2"}, "--hook=none2"},
      {{"--mode=naive", "--hook=bf16"}, "--hook"},
      {{"--mode=parameter-server", "--precision=fp64"}, "--precision"},
      {{"--mode=parameter-server", "--momentum=0.9"}, "--momentum"},
      {{"--data=csv"}, "--train-file"},
      {{"--hidden=3-x"}, "--hidden"},
      {{"--batch-size=0"}, "--batch-size"},
      {{"--nesterov"}, "--momentum"},
      {{"--optimizer=adam", "--momentum=0.5"}, "--momentum"},
      {{"--save-freq=3"}, "--checkpoint-dir"},
      {{"--bucket-bytes=x"}, "--bucket-bytes"},
      {{"--bucket-bytes=1.5M"}, "--bucket-bytes"},
      {{"--bucket-bytes=0"}, "[1, 8G]"},
      {{"--first-bucket-bytes=auto"}, "--first-bucket-bytes"},
      {{"--batch-size", "-5"}, "--batch-size: '-5' is not a whole number in [1, 2147483648]"},
      {{"--learning-rate=nan"}, "--learning-rate: 'nan' is not a number in [0, 1e+38]"},
      {{"--momentum=1"}, "[0, 1)"},
      {{"--model=tree"}, "--model"},
      {{"--compare", "--load=x"}, "--compare"},
      {{"--svg-file=x.svg"}, "--svg-file needs --scaling, --breakdown or --sweep-buckets"},
      {{"--svg-file=x.svg", "--workload=bert"}, "--svg-file needs"},
      {{"--scaling=weak", "--breakdown"}, "choose one"},
  };
  for (const auto& [flags, name] : cases) {
    const auto result = parse(flags);
    EXPECT_TRUE(result.stop) << name;
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_NE(result.text.find(name), std::string::npos) << result.text;
  }
}

}  // namespace
}  // namespace sgd
