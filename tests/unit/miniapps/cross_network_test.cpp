// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>

#include "common/cross_network.hpp"

namespace {

using namespace tutti::miniapps;

template <typename Float>
std::vector<Float> sequence(std::size_t count, double start) {
  std::vector<Float> values(count);
  for (std::size_t k = 0; k < count; ++k) {
    values[k] = static_cast<Float>(std::sin(0.37 * static_cast<double>(k) + start));
  }
  return values;
}

template <typename Float>
struct CrossPass {
  std::vector<Float> output;
  std::vector<Float> input_gradient;
};

template <typename Float>
CrossPass<Float> pass(BasicCrossNetwork<Float>& network, const std::vector<Float>& x,
                      std::vector<Float> output_gradient) {
  const std::size_t n = x.size() / network.width();
  CrossPass<Float> result{std::vector<Float>(x.size()), std::vector<Float>(x.size())};
  network.forward(x.data(), n, result.output.data());
  network.backward(x.data(), output_gradient.data(), result.input_gradient.data());
  return result;
}

template <typename Float>
void fill(BasicCrossNetwork<Float>& network, double start) {
  const auto values = sequence<Float>(network.parameters().size(), start);
  std::copy(values.begin(), values.end(), network.parameters().begin());
}

void expect_near(std::span<const double> got, const std::vector<double>& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], tolerance) << i;
  }
}

// By torch 2.14 in float64, autograd of x_{l+1} = x_0 * (matmul(matmul(x_l, V^T), W^T) + b) + x_l.
TEST(CrossNetwork, ValuesAndGradientsAreTorchs) {
  BasicCrossNetwork<double> network(5, 2, 3);
  fill(network, 2.0);
  const auto result = pass(network, sequence<double>(10, 1.0), sequence<double>(10, 3.0));
  expect_near(result.output,
              {0.838559642020743, -0.425696091223829, -1.16202079621714, -0.838396077544434, -0.0233183302039393,
               -0.608457175028869, -0.399634986083479, -4.38358992001409, -7.4183959313208, -4.75255593170753},
              1e-12);
  expect_near(result.input_gradient,
              {0.667971248177988, -0.427413497687345, 0.777725826330808, 2.5380002744134, 2.58281568791192,
               3.25071140267352, -4.04860636151137, -9.32910071416766, -9.09882822284484, -5.29076101385296},
              1e-12);
  expect_near(network.gradients(),
              {0.924198252608979,  -0.0385518296832387, -0.99608410268264,  -1.81880106522571,  -2.39535183597199,
               0.696085816956378,  -0.097767835236943,  -0.878389069580593, -1.54012446406591,  -1.99341123739039,
               -0.203422771870948, 0.433802234765471,   -0.110288448414062, 0.377776582187712,  0.164927888824925,
               0.936332002509501,  0.478270789167465,   1.81730888751851,   0.66584221193668,   2.55990092829012,
               -0.13024608219531,  -0.0246823976038219, 0.520529609620179,  1.22020977538224,   1.70838137532221,
               -0.845826185090166, 0.989899208210847,   2.92198667426568,   3.09164785771491,   1.2066226155749,
               -0.420768112641451, 0.470859117367828,   1.79799427083115,   2.19354283918177,   1.02910686352389,
               -1.04048104575212,  3.17975297402496,    -0.634224499029524, 1.70701088327603,   0.034758218956659,
               -0.549306479972485, 0.616547079366584,   -2.4090032517729,   0.806829923844092,  -2.89934107801542,
               -0.88724392232248,  -0.456879128057276,  0.190502140144174,  0.716278770033485,  0.845436522008152,
               -0.34759702251705,  -0.90188819973942,   -2.77163468671057,  -4.02165635349327,  -3.08642058935242,
               -0.370131606355461, -0.959188693625308,  -2.96150276608327,  -4.302173803892,    -3.30067753454018,
               1.16622320165955,   -2.91710339849157,   -0.622520114514481, 1.36977776990176,   -1.9128750264359,
               4.35857508684345,   -2.02990477437438,   4.48595961240369,   -0.912395441030192, 1.68530122945187,
               -0.166011957134269, -0.153426532318097,  -0.278260347133972, -0.475217466565734, -0.64127693198647},
              1e-12);
}

TEST(CrossNetwork, GradientsAreSlopes) {
  constexpr double h = 1e-6;
  BasicCrossNetwork<double> network(7, 3, 2);
  NumpyRandom random(4);
  network.initialize(random);
  auto x = sequence<double>(4 * 7, 0.5);
  const auto weights = sequence<double>(4 * 7, 0.1);
  const auto value = [&] {
    const auto y = pass(network, x, weights).output;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += weights[i] * y[i];
    }
    return sum;
  };
  const auto slope = [&](double& at) {
    const double kept = at;
    at = kept + h;
    const double up = value();
    at = kept - h;
    const double down = value();
    at = kept;
    return (up - down) / (2 * h);
  };
  const auto input_gradient = pass(network, x, weights).input_gradient;
  const std::vector<double> gradients(network.gradients().begin(), network.gradients().end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(slope(x[i]), input_gradient[i], 1e-8) << i;
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    EXPECT_NEAR(slope(network.parameters()[i]), gradients[i], 1e-8) << i;
  }
}

TEST(CrossNetwork, FirstWeightsAreXaviers) {
  constexpr std::size_t width = 200;
  constexpr std::size_t rank = 100;
  CrossNetwork network(width, rank, 1);
  NumpyRandom random(9);
  network.initialize(random);
  const auto weights = network.parameters().first(2 * width * rank);
  double squares = 0;
  for (const float w : weights) {
    squares += static_cast<double>(w) * w;
  }
  EXPECT_NEAR(squares / static_cast<double>(weights.size()), 2.0 / (width + rank), 2e-4);
  for (const float b : network.parameters().last(width)) {
    EXPECT_EQ(b, 0.0F);
  }
}

class CrossNetworkProducts : public ::testing::TestWithParam<Products> {};

TEST_P(CrossNetworkProducts, AreThoseOfDoublePrecision) {
  if (const std::string problem = lacks(GetParam()); !problem.empty()) {
    GTEST_SKIP() << problem;
  }
  constexpr std::size_t width = 48;
  constexpr std::size_t n = 40;
  BasicCrossNetwork<double> exact(width, 16, 3);
  CrossNetwork network(width, 16, 3, GetParam());
  NumpyRandom random(2);
  exact.initialize(random);
  std::copy(exact.parameters().begin(), exact.parameters().end(), network.parameters().begin());
  const auto want = pass(exact, sequence<double>(n * width, 1), sequence<double>(n * width, 2));
  const auto got = pass(network, sequence<float>(n * width, 1), sequence<float>(n * width, 2));
  const double tolerance = GetParam() == Products::onednn_bf16 ? 0.05 : 1e-4;
  for (std::size_t i = 0; i < got.output.size(); ++i) {
    EXPECT_NEAR(got.output[i], want.output[i], tolerance);
    EXPECT_NEAR(got.input_gradient[i], want.input_gradient[i], 2 * tolerance);
  }
  const double largest = std::abs(*std::max_element(exact.gradients().begin(), exact.gradients().end()));
  for (std::size_t i = 0; i < network.gradients().size(); ++i) {
    EXPECT_NEAR(network.gradients()[i], exact.gradients()[i], tolerance * largest);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CrossNetworkProducts,
                         ::testing::Values(Products::blas, Products::onednn, Products::onednn_bf16));

TEST(CrossNetwork, NoSamplesAndWrongSizes) {
  CrossNetwork network(4, 2, 2);
  fill(network, 1.0);
  (void)pass(network, sequence<float>(8, 0), sequence<float>(8, 1));
  (void)pass(network, {}, {});
  for (const float g : network.gradients()) {
    EXPECT_EQ(g, 0.0F);
  }
  EXPECT_THROW(CrossNetwork(4, 0, 2), tutti::Error);
}

}  // namespace
