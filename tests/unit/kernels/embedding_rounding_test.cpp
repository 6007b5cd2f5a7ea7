// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "embedding_batch.hpp"

namespace {

using namespace embedding_test;

constexpr std::size_t row_length = 40;

/// One row with values w after w -= gradient, rounded with the bits of seed and step.
std::vector<float> rounded(DatatypeKind type, const std::vector<float>& row, float gradient, std::uint64_t seed,
                           std::uint64_t step = 1) {
  OwnedTable own(type, 1, row.size());
  own.fill([&](std::size_t, std::size_t d) { return row[d]; });
  Batch batch(1, row.size(), 1, 0);
  batch.indices = {0};
  batch.offsets = {0, 1};
  std::fill(batch.gradient.begin(), batch.gradient.end(), gradient);
  RowUpdate update{RowOptimizer::sgd, 1.0F};
  update.rounding = Rounding::stochastic;
  update.seed = seed;
  update.step = step;
  std::vector<float> state;
  batch.update(own.table(), state, update);
  return own.values();
}

struct Start {
  DatatypeKind type;
  float base;      ///< least value of the row
  float step;      ///< between values that can be stored there
  float gradient;  ///< a part of the step
};

class StochasticRounding : public testing::TestWithParam<Start> {};

TEST_P(StochasticRounding, IsUnbiasedAndTakesTheNeighbours) {
  const Start& s = GetParam();
  std::vector<float> row(row_length);
  for (std::size_t d = 0; d < row_length; ++d) row[d] = s.base + s.step * static_cast<float>(d % 8);
  if (s.type == DatatypeKind::uint8) {
    row[0] = s.base;
    row[1] = s.base + 255 * s.step;
  }
  constexpr int seeds = 4000;
  std::vector<double> sums(row_length);
  for (int seed = 0; seed < seeds; ++seed) {
    const auto after = rounded(s.type, row, s.gradient, static_cast<std::uint64_t>(seed));
    for (std::size_t d = 0; d < row_length; ++d) {
      const double moved = static_cast<double>(after[d]) - static_cast<double>(row[d] - s.gradient);
      ASSERT_LT(std::fabs(moved), static_cast<double>(s.step) * 1.001);
      sums[d] += moved;
    }
  }
  const double deviation = 0.5 * static_cast<double>(s.step) / std::sqrt(seeds);
  double all = 0;
  for (std::size_t d = 0; d < row_length; ++d) {
    EXPECT_LT(std::fabs(sums[d] / seeds), 5 * deviation) << "column " << d;
    all += sums[d] / seeds / static_cast<double>(row_length);
  }
  EXPECT_LT(std::fabs(all), 5 * deviation / std::sqrt(static_cast<double>(row_length)));
}

INSTANTIATE_TEST_SUITE_P(Types, StochasticRounding,
                         testing::Values(Start{DatatypeKind::bfloat16, 1.0F, 0x1p-7F, 0x1.4p-9F},
                                         Start{DatatypeKind::bfloat16, -3.0F, 0x1p-6F, 0x1.1p-10F},
                                         Start{DatatypeKind::float16, 1.5F, 0x1p-10F, 0x1.4p-12F},
                                         Start{DatatypeKind::float16, -0x1p-20F, 0x1p-24F, 0x1.8p-26F},  // subnormal
                                         Start{DatatypeKind::float16, 0x1p-14F, 0x1p-24F, -0x1.1p-25F}));

// The range of a row moves with all its values, so the values between its ends are what is rounded.
TEST(StochasticRoundingOfBytes, IsUnbiased) {
  std::vector<float> row(row_length);
  for (std::size_t d = 0; d < row_length; ++d) row[d] = static_cast<float>(d % 7) / 7.0F + 0.01F;
  row[0] = 0;
  row[1] = 1;
  OwnedTable exact(DatatypeKind::float32, 1, row_length);
  constexpr int seeds = 4000;
  std::vector<double> sums(row_length);
  OwnedTable start(DatatypeKind::uint8, 1, row_length);
  start.fill([&](std::size_t, std::size_t d) { return row[d]; });
  const auto stored = start.values();
  for (int seed = 0; seed < seeds; ++seed) {
    const auto after = rounded(DatatypeKind::uint8, row, 0.3F, static_cast<std::uint64_t>(seed));
    for (std::size_t d = 0; d < row_length; ++d) {
      const double moved = static_cast<double>(after[d]) - (static_cast<double>(stored[d]) - static_cast<double>(0.3F));
      ASSERT_LT(std::fabs(moved), 1.01 / 255);
      sums[d] += moved;
    }
  }
  for (std::size_t d = 0; d < row_length; ++d)
    EXPECT_LT(std::fabs(sums[d] / seeds), 5 * 0.5 / 255 / std::sqrt(seeds)) << d;
}

TEST(StochasticRounding, DependsOnSeedStepTableRowAndColumn) {
  const std::vector<float> row(row_length, 1.0F);
  const auto first = rounded(DatatypeKind::bfloat16, row, 0x1p-9F, 1, 1);
  EXPECT_EQ(first, rounded(DatatypeKind::bfloat16, row, 0x1p-9F, 1, 1));
  EXPECT_NE(first, rounded(DatatypeKind::bfloat16, row, 0x1p-9F, 2, 1));
  EXPECT_NE(first, rounded(DatatypeKind::bfloat16, row, 0x1p-9F, 1, 2));
  EXPECT_EQ(std::set<float>(first.begin(), first.end()).size(), 2U) << "columns must not all go one way";
  std::vector<std::vector<float>> places;
  for (const ShardPlace& place : {ShardPlace{}, ShardPlace{.table = 1}, ShardPlace{.first_row = 1}}) {
    OwnedTable own(DatatypeKind::bfloat16, 2, row_length, place);
    own.fill([](std::size_t, std::size_t) { return 1.0F; });
    Batch batch(2, row_length, 2, 0);
    batch.indices = {0, 1};
    batch.offsets = {0, 1, 2};
    std::fill(batch.gradient.begin(), batch.gradient.end(), 0x1p-9F);
    RowUpdate update{RowOptimizer::sgd, 1.0F};
    update.rounding = Rounding::stochastic;
    std::vector<float> state;
    batch.update(own.table(), state, update);
    places.push_back(own.values());
  }
  EXPECT_NE(places[0], places[1]);
  EXPECT_NE(places[0], places[2]);
  EXPECT_TRUE(std::equal(places[0].begin() + row_length, places[0].end(), places[2].begin()))
      << "row 1 is row 1 in any shard";
  EXPECT_FALSE(std::equal(places[0].begin() + row_length, places[0].end(), places[0].begin())) << "rows must differ";
}

TEST(StochasticRounding, KeepsWhatIsNotFinite) {
  std::vector<float> row(row_length, 2.0F);
  row[3] = std::numeric_limits<float>::infinity();
  row[row_length - 1] = std::numeric_limits<float>::quiet_NaN();
  row[5] = -std::numeric_limits<float>::infinity();
  for (const DatatypeKind type : {DatatypeKind::bfloat16, DatatypeKind::float16}) {
    const auto after = rounded(type, row, 0.0F, 3);
    EXPECT_EQ(after[3], row[3]);
    EXPECT_EQ(after[5], row[5]);
    EXPECT_TRUE(std::isnan(after[row_length - 1]));
    EXPECT_EQ(after[0], 2.0F);
  }
  const auto bytes = rounded(DatatypeKind::uint8, row, 0.0F, 3);
  for (const float x : bytes) EXPECT_TRUE(std::isnan(x)) << "a row of bytes with a NaN must not look healthy";
}

TEST(StochasticRounding, ExactValuesStay) {
  std::vector<float> row(row_length);
  for (std::size_t d = 0; d < row_length; ++d) row[d] = static_cast<float>(static_cast<int>(d) - 20) / 16.0F;
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) EXPECT_EQ(rounded(type, row, 0.0F, seed), row);
  }
}

}  // namespace
