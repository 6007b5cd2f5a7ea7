// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tutti/error.hpp>

#include "common/activations.hpp"
#include "common/mlp.hpp"

namespace {

using namespace tutti::miniapps;

constexpr std::array<std::size_t, 5> widths{37, 96, 64, 17, 1};

std::vector<float> values(std::size_t count, std::uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<float> v(count);
  random.fill_normal(v, 0, 1);
  return v;
}

struct Pass {
  std::vector<float> output;
  std::vector<float> gradients;
  std::vector<float> input_gradient;
};

template <typename Float>
Pass pass(BasicMlp<Float>& mlp, std::size_t n) {
  const auto x32 = values(n * widths.front(), 1);
  const auto d32 = values(n * widths.back(), 2);
  const std::vector<Float> x(x32.begin(), x32.end());
  std::vector<Float> d(d32.begin(), d32.end());
  std::vector<Float> dx(x.size());
  const auto y = mlp.forward(x, n);
  Pass result{{y.begin(), y.end()}, {}, {}};
  mlp.backward(x, d, dx);
  result.gradients.assign(mlp.gradients().begin(), mlp.gradients().end());
  result.input_gradient.assign(dx.begin(), dx.end());
  return result;
}

template <typename Float>
BasicMlp<Float> network(Products products, Activation last = Activation::sigmoid) {
  BasicMlp<Float> mlp(widths, last, products);
  NumpyRandom random(3);
  mlp.initialize(random);
  return mlp;
}

/// Norm of the difference over the norm.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / norm);
}

struct Case {
  Products products;
  double tolerance;
};

class ProductsTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string problem = lacks(GetParam().products); !problem.empty()) {
      GTEST_SKIP() << problem;
    }
  }
};

// A rounding to bfloat16 is at most 2^-9 off; a few of them meet in a value. With few samples a relu that flips counts.
TEST_P(ProductsTest, AreThoseOfDoublePrecision) {
  auto exact = network<double>(Products::blas);
  auto mlp = network<float>(GetParam().products);
  for (const std::size_t n : {33, 1, 64, 33, 5, 6, 7}) {
    const Pass want = pass(exact, n);
    const Pass got = pass(mlp, n);
    const double tolerance = (n < 32 ? 8 : 1) * GetParam().tolerance;
    EXPECT_LT(distance(got.output, want.output), tolerance) << n;
    EXPECT_LT(distance(got.gradients, want.gradients), tolerance) << n;
    EXPECT_LT(distance(got.input_gradient, want.input_gradient), 3 * tolerance) << n;
  }
}

TEST_P(ProductsTest, NoSamplesGiveNoGradients) {
  auto mlp = network<float>(GetParam().products);
  (void)pass(mlp, 4);
  const Pass none = pass(mlp, 0);
  EXPECT_TRUE(none.output.empty());
  for (const float g : none.gradients) {
    ASSERT_EQ(g, 0.0F);
  }
}

TEST_P(ProductsTest, NewParametersCountUnlessPromisedToStay) {
  auto mlp = network<float>(GetParam().products);
  const auto before = pass(mlp, 8).output;
  for (float& p : mlp.parameters()) {
    p *= 0.5F;
  }
  const auto after = pass(mlp, 8).output;
  EXPECT_GT(distance(after, before), 0.01);
  mlp.keep_parameters(true);
  EXPECT_EQ(pass(mlp, 8).output, after);
  EXPECT_EQ(pass(mlp, 8).output, after);
  mlp.keep_parameters(false);
  EXPECT_EQ(pass(mlp, 8).output, after);
}

TEST_P(ProductsTest, NotANumberReachesTheOutput) {
  auto mlp = network<float>(GetParam().products, Activation::relu);
  auto x = values(2 * widths.front(), 1);
  x[5] = std::numeric_limits<float>::quiet_NaN();
  const auto y = mlp.forward(x, 2);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_FALSE(std::isnan(y[1]));
}

INSTANTIATE_TEST_SUITE_P(All, ProductsTest,
                         ::testing::Values(Case{Products::blas, 1e-5}, Case{Products::onednn, 1e-5},
                                           Case{Products::onednn_bf16, 0.03}));

TEST(Products, AbsentOnesAreRefused) {
  EXPECT_THROW(network<double>(Products::onednn), tutti::Error);
  for (const Products products : {Products::onednn, Products::onednn_bf16}) {
    if (!lacks(products).empty()) {
      EXPECT_THROW(network<float>(products), tutti::Error);
    }
  }
}

TEST(Products, BitsOfBfloat16) {
  const std::array<float, 7> from{1.0F, -2.0F, -0.0F, 0.0F, -1e-40F, INFINITY, -INFINITY};
  std::array<tutti::bfloat16_t, 7> y;
  round_to_bfloat16(from.data(), y.data(), y.size());
  activate(y.data(), y.size(), Activation::relu);
  const std::array<float, 7> want{1.0F, 0.0F, 0.0F, 0.0F, 0.0F, INFINITY, 0.0F};
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(static_cast<float>(y[i]), want[i]) << i;
    EXPECT_EQ(y[i].bits & 0x8000U, 0U) << i;
  }
}

}  // namespace
