// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <gtest/gtest.h>

#include "support/option_ranges.hpp"

namespace tutti::data {
namespace {

Request request_of(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tutti-data");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_text(const std::vector<const char*>& arguments) {
  const Request request = request_of(arguments);
  EXPECT_TRUE(request.stop);
  EXPECT_EQ(request.exit_code, 1);
  return request.text;
}

command_line::Outcome parse_texts(const std::vector<std::string>& arguments) {
  std::vector<const char*> texts;
  for (const std::string& argument : arguments) texts.push_back(argument.c_str());
  return request_of(texts);
}

TEST(DataOptions, NoOptionTakesAValueOutsideItsRange) { command_line::testing::expect_ranges(parse_texts, 10); }

TEST(DataOptions, HelpNamesThemAll) { command_line::testing::expect_help(parse_texts); }

TEST(DataOptions, ReachTheirCommand) {
  const Request convert =
      request_of({"convert", "a", "b", "-o", "x", "--format", "npy", "--days", "3", "--dense", "log3", "--numbering",
                  "frequency", "--frequency-threshold", "4", "--part-bytes", "1M"});
  ASSERT_EQ(convert.task, Task::convert) << convert.text;
  EXPECT_EQ(convert.convert.inputs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(convert.convert.format, Format::npy);
  EXPECT_EQ(convert.convert.days, 3U);
  EXPECT_EQ(convert.convert.dense_rule, DenseRule::log3);
  EXPECT_EQ(convert.convert.rule.kind, DictionaryRule::Kind::frequency);
  EXPECT_EQ(convert.convert.rule.threshold, 4U);
  EXPECT_EQ(convert.convert.part_bytes, std::size_t{1} << 20U);
  EXPECT_EQ(request_of({"convert", "a", "-o", "x", "--hash-rows", "9"}).convert.rule.kind, DictionaryRule::Kind::hash);
  const Request own = request_of(
      {"convert", "a", "-o", "x", "--label", "y", "--dense-columns", "age,I*", "--sparse-columns", "site,C*"});
  EXPECT_EQ(own.convert.names.label, "y");
  EXPECT_EQ(own.convert.names.dense, "age,I*");
  EXPECT_EQ(own.convert.names.sparse, "site,C*");
  const Request usual = request_of({"convert", "a", "-o", "x"});
  EXPECT_EQ(usual.convert.rule.kind, DictionaryRule::Kind::automatic);
  EXPECT_EQ(usual.convert.dense_rule, DenseRule::automatic);
  EXPECT_EQ(request_of({"info", "x"}).task, Task::info);
  EXPECT_EQ(request_of({"check", "x"}).task, Task::check);
  EXPECT_EQ(request_of({"sample", "x", "--first", "7"}).view.first, 7U);
}

TEST(DataOptions, ThatDoNotFitOneAnotherAreRefused) {
  EXPECT_NE(error_text({}).find("name a command"), std::string::npos);
  EXPECT_NE(error_text({"convert", "a", "-o", "x/"}).find("--output"), std::string::npos);
  EXPECT_NE(error_text({"convert", "a", "-o", "x", "--hash-rows", "1"}).find("--hash-rows"), std::string::npos);
  EXPECT_NE(error_text({"convert", "a", "-o", "x", "--hash-rows", "5", "--numbering", "frequency"}).find("--numbering"),
            std::string::npos);
  EXPECT_NE(error_text({"generate", "-o", "x", "--rows", "5-6"}).find("26 tables"), std::string::npos);
  EXPECT_NE(error_text({"generate", "-o", "x", "--ragged"}).find("--format npy"), std::string::npos);
  EXPECT_NE(error_text({"generate", "-o", "x", "--dense-features", "4"}).find("13 dense"), std::string::npos);
  EXPECT_NE(error_text({"generate", "-o", "x", "--samples", "3"}).find("--days 7"), std::string::npos);
  EXPECT_NE(error_text({"generate", "-o", "x", "--format", "npy", "--rows", "5-6", "--zipf", "1-1-1"}).find("--zipf"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti::data
