// SPDX-License-Identifier: BSD-3-Clause
#include "bench_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/batch_parts.hpp"

namespace dlrm {
namespace {

using tutti::miniapps::Batch;
using tutti::miniapps::Split;

BenchData source() { return {100, 3, {1000, 7}, {5, 2}, 123}; }

TEST(BenchData, IndicesFitTheTables) {
  auto data = source();
  Batch batch;
  const std::vector<std::size_t> tables{0, 1};
  data.read(Split::train, 40, 1, {{0, 40}, tables}, batch);
  ASSERT_EQ(batch.tables.size(), 2U);
  for (std::size_t t = 0; t < 2; ++t) {
    const auto& bags = batch.tables[t];
    ASSERT_EQ(bags.offsets.size(), 41U);
    const std::size_t indices = t == 0 ? 200 : 80;
    EXPECT_EQ(bags.offsets.back(), static_cast<std::int64_t>(indices));
    ASSERT_EQ(bags.indices.size(), indices);
    const auto [least, most] = std::minmax_element(bags.indices.begin(), bags.indices.end());
    EXPECT_GE(*least, 0);
    EXPECT_LT(*most, static_cast<std::int64_t>(data.table_rows()[t]));
    EXPECT_NE(*least, *most);
  }
}

TEST(BenchData, PartsAreThoseOfTheWhole) {
  auto data = source();
  Batch whole;
  Batch part;
  data.read(Split::train, 40, 2, {{0, 20}, std::vector<std::size_t>{0, 1}}, whole);
  data.read(Split::train, 40, 2, {{5, 12}, std::vector<std::size_t>{1}}, part);
  EXPECT_EQ(whole.count, 20U);  // the last batch is short
  EXPECT_EQ(part.tables[0].indices, whole.tables[1].indices);
  EXPECT_TRUE(std::equal(part.dense.begin(), part.dense.end(), whole.dense.begin() + 15));
  EXPECT_TRUE(std::equal(part.labels.begin(), part.labels.end(), whole.labels.begin() + 5));
}

TEST(BenchData, RanksMakeTheirOwnSamples) {
  auto data = source();
  expect_own_parts(data, Split::train, 40, 2, 3);
}

TEST(BenchData, BatchesDiffer) {
  auto data = source();
  Batch first;
  Batch second;
  data.read(Split::train, 40, 0, {{0, 40}, std::vector<std::size_t>{0}}, first);
  data.read(Split::train, 40, 1, {{0, 40}, std::vector<std::size_t>{0}}, second);
  EXPECT_NE(first.tables[0].indices, second.tables[0].indices);
  EXPECT_NE(first.dense, second.dense);
  EXPECT_NE(first.labels, second.labels);
}

}  // namespace
}  // namespace dlrm
