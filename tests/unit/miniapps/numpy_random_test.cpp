// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "common/mlp.hpp"
#include "common/numpy_random.hpp"

namespace {

using namespace tutti::miniapps;

TEST(NumpyRandom, EngineIsTheMersenneTwister) {
  NumpyRandom random(5489);
  EXPECT_EQ(random.next_uint32(), 3499211612U);
  for (int i = 0; i < 9998; ++i) {
    (void)random.next_uint32();
  }
  EXPECT_EQ(random.next_uint32(), 4123659995U);  // the standard's value for the 10000th
}

TEST(NumpyRandom, RandomSampleHasTheBitsOfNumpy) {
  NumpyRandom random(123);  // numpy.random.seed(123); numpy.random.rand(3)
  EXPECT_EQ(random.random_sample(), 0.6964691855978616);
  EXPECT_EQ(random.random_sample(), 0.28613933495037946);
  EXPECT_EQ(random.random_sample(), 0.2268514535642031);
}

TEST(NumpyRandom, NormalHasTheBitsOfNumpy) {
  NumpyRandom random(123);  // numpy.random.seed(123); numpy.random.randn(3)
  EXPECT_EQ(random.normal(0, 1), -1.0856306033005612);
  EXPECT_EQ(random.normal(0, 1), 0.9973454465835858);
  EXPECT_EQ(random.normal(0, 1), 0.28297849805199204);
  random.seed(123);  // the kept value is dropped
  EXPECT_EQ(random.normal(0, 1), -1.0856306033005612);
}

TEST(NumpyRandom, ShuffleIsNumpys) {
  NumpyRandom random(0);  // numpy.random.seed(0); numpy.random.permutation(10)
  std::vector<std::uint32_t> values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  random.shuffle(values);
  EXPECT_EQ(values, (std::vector<std::uint32_t>{2, 8, 4, 9, 1, 6, 7, 3, 0, 5}));
}

TEST(NumpyRandom, IntegersAreNumpys) {
  NumpyRandom random(0);  // numpy.random.randint(0, n, count), one call after the other
  std::vector<std::int32_t> values(6);
  random.fill_below(values, 40000000);
  EXPECT_EQ(values, (std::vector<std::int32_t>{8325804, 2215104, 38712131, 15039847, 7644169, 22630677}));
  values.resize(3);
  random.fill_below(values, 1);
  EXPECT_EQ(values, (std::vector<std::int32_t>{0, 0, 0}));
  values.resize(2);
  random.fill_below(values, 1U << 31U);
  EXPECT_EQ(values, (std::vector<std::int32_t>{1650906866, 1879422756}));
  NumpyRandom skipped(0);
  skipped.skip_below(6, 40000000);
  skipped.skip_below(9, 1);
  std::vector<std::int32_t> after(2);
  skipped.fill_below(after, 1U << 31U);
  EXPECT_EQ(after, values);
}

TEST(NumpyRandom, SkippingEqualsDrawing) {
  NumpyRandom a(7);
  NumpyRandom b(7);
  for (int i = 0; i < 1001; ++i) {
    (void)a.random_sample();
  }
  b.skip_samples(1001);
  EXPECT_EQ(a.random_sample(), b.random_sample());
}

/// From even and odd places of the engine, over the ends of its blocks.
TEST(NumpyRandom, FillingEqualsDrawing) {
  for (const bool odd : {false, true}) {
    NumpyRandom a(11);
    NumpyRandom b(11);
    if (odd) {
      EXPECT_EQ(a.next_uint32(), b.next_uint32());
    }
    for (const std::size_t count : {1U, 0U, 2U, 311U, 312U, 7U, 1000U}) {
      std::vector<double> values(count);
      a.fill_samples(values);
      for (const double value : values) {
        ASSERT_EQ(value, b.random_sample());
      }
    }
    std::vector<float> floats(1000);
    a.fill_uniform(floats, -0.3, 0.7);
    for (const float value : floats) {
      ASSERT_EQ(value, static_cast<float>(b.uniform(-0.3, 0.7)));
    }
  }
}

/// The weights that the reference draws with its default flags and seed 123.
TEST(NumpyRandom, DefaultModelHasTheReferencesWeights) {
  NumpyRandom random(123);
  std::vector<float> first;
  for (const std::size_t rows : {4, 3, 2}) {
    std::vector<float> table(rows * 2);
    const double bound = std::sqrt(1.0 / static_cast<double>(rows));
    random.fill_uniform(table, -bound, bound);
    first.insert(first.end(), table.begin(), table.end());
  }
  EXPECT_NEAR(first[0], 0.196469F, 5e-7);
  EXPECT_NEAR(first[1], -0.213861F, 5e-7);
  const std::array<std::size_t, 3> widths{4, 3, 2};
  Mlp bottom(widths, Activation::relu);
  bottom.initialize(random);
  const auto layer = bottom.layer_parameters(0);
  const std::array<float, 4> w{1.179119F, 1.168886F, 0.536689F, 0.206425F};
  const std::array<float, 3> b{-0.080869F, -0.497534F, -0.147582F};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(layer[i], w[i], 1e-6);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(layer[12 + i], b[i], 1e-6);
  }
}

}  // namespace
