// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <tutti/error.hpp>

#include "common/csv.hpp"
#include "common/libsvm.hpp"
#include "csv_features.hpp"
#include "table_source.hpp"

namespace {

using namespace tutti::miniapps;

/// The message of the error that an action throws.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const tutti::Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_error(const std::function<void()>& action, const std::vector<std::string>& parts) {
  const auto message = error_of(action);
  for (const auto& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks " << part;
  }
}

TEST(Libsvm, ReadsSamples) {
  const auto s = parse_libsvm("+1 1:0.5 3:-2e1 # a comment\n\n-1 2:1\n0\n", "x");
  EXPECT_EQ(s.labels, (std::vector<double>{1, -1, 0}));
  EXPECT_EQ(s.offsets, (std::vector<std::size_t>{0, 2, 3, 3}));
  EXPECT_EQ(s.columns, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(s.values, (std::vector<double>{0.5, -20, 1}));
  EXPECT_EQ(s.width, 3U);
}

TEST(Libsvm, ErrorsNameFileAndLine) {
  const auto parse = [](const char* text) { return [text] { (void)parse_libsvm(text, "a.svm"); }; };
  expect_error(parse("1 1:1\n1 2-3\n"), {"a.svm", "line 2", "2-3"});
  expect_error(parse("1 1:1\n\nx 2:3\n"), {"line 3", "'x' is not a label"});
  expect_error(parse("1 2:1 2:1\n"), {"line 1", "ascend"});
  expect_error(parse("1 0:1\n"), {"line 1", "index 0"});
  expect_error(parse("1 1:nan\n"), {"line 1", "1:nan"});
  expect_error(parse("\n"), {"a.svm", "no samples"});
  expect_error([] { (void)read_libsvm("/nowhere/a.svm"); }, {"/nowhere/a.svm", "opened"});
}

TEST(Csv, QuotesHeaderAndLines) {
  const auto t = parse_csv("name, age\n\n\"a, \"\"b\"\"\" , 3\nc,\n", "x", true);
  EXPECT_EQ(t.names, (std::vector<std::string>{"name", "age"}));
  EXPECT_EQ(t.columns[0], (std::vector<std::string>{"a, \"b\"", "c"}));
  EXPECT_EQ(t.columns[1], (std::vector<std::string>{"3", ""}));
  EXPECT_EQ(t.lines, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(t.column("age"), 1U);
  EXPECT_EQ(t.column("0"), 0U);
  EXPECT_EQ(parse_csv("1,2\n", "x", false).rows(), 1U);
}

TEST(Csv, ErrorsNameFileAndLine) {
  const auto parse = [](const char* text) { return [text] { (void)parse_csv(text, "a.csv", true); }; };
  expect_error(parse("a,b\n1,2\n1\n"), {"a.csv", "line 3", "1 cells", "2"});
  expect_error(parse("a,b\n\"1,2\n"), {"line 2", "quote"});
  expect_error(parse("a,b\n\"1\"x,2\n"), {"line 2", "quote"});
  expect_error(parse("a,b\n"), {"no rows"});
  expect_error([] { (void)parse_csv("a,b\n1,2\n", "a.csv", true).column("c"); }, {"'c'", "a, b"});
}

TEST(CsvFeatures, NumbersAreStandardisedAndTextIsOneHot) {
  const auto train = parse_csv("x,colour,y\n1,red,no\n3,blue,yes\n5,red,yes\n", "t", true);
  const sgd::CsvFeatures features(train, "y");
  const auto s = features.convert(train);
  EXPECT_EQ(s.width, 3U);  // x, blue, red
  EXPECT_EQ(s.labels, (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(s.columns, (std::vector<std::uint32_t>{0, 2, 0, 1, 0, 2}));
  EXPECT_NEAR(s.values[0], -std::sqrt(1.5), 1e-12);
  EXPECT_NEAR(s.values[2], 0, 1e-12);
  const auto test = features.convert(parse_csv("x,colour,y\n3,green,no\n", "u", true));
  EXPECT_EQ(test.columns, (std::vector<std::uint32_t>{0}));
  expect_error([&] { (void)features.convert(parse_csv("x,colour,y\n3,red,no\nz,red,no\n", "u.csv", true)); },
               {"u.csv", "line 3", "'z'", "column x"});
  expect_error([&] { (void)features.convert(parse_csv("x,colour,y\n3,red,maybe\n", "u.csv", true)); },
               {"u.csv", "line 2", "maybe"});
}

TEST(Table, ClassesAreNumberedAndSplitLosesNothing) {
  std::vector<double> train{-1, 1, -1, 4};
  std::vector<double> test{1, 4};
  EXPECT_EQ(sgd::number_classes("f", train, test), 3U);
  EXPECT_EQ(train, (std::vector<double>{0, 1, 0, 2}));
  EXPECT_EQ(test, (std::vector<double>{1, 2}));
  std::vector<double> other{7};
  expect_error([&] { (void)sgd::number_classes("f", train, other); }, {"f", "7"});
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += std::to_string(i) + " 1:" + std::to_string(i) + "\n";
  }
  auto all = parse_libsvm(text, "f");
  const auto taken = sgd::split_off(all, 0.25, 3);
  EXPECT_EQ(all.labels.size() + taken.labels.size(), 1000U);
  EXPECT_NEAR(static_cast<double>(taken.labels.size()), 250, 60);
  EXPECT_EQ(taken.values, taken.labels);
  EXPECT_EQ(all.values, all.labels);
}

}  // namespace
