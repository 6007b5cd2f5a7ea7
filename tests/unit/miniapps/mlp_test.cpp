// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "common/loss.hpp"
#include "common/lr_schedule.hpp"
#include "common/mlp.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

struct Problem {
  std::vector<float> x;
  std::vector<float> labels;
  std::size_t n = 0;
};

Problem problem(std::size_t n, std::size_t width) {
  NumpyRandom random(11);
  Problem p;
  p.n = n;
  p.x.resize(n * width);
  random.fill_normal(p.x, 0, 1);
  for (std::size_t i = 0; i < n; ++i) {
    p.labels.push_back(random.random_sample() < 0.5 ? 0.0F : 1.0F);
  }
  return p;
}

double mean_loss(Mlp& mlp, const Problem& p, const std::vector<float>& x, const LossOptions& options) {
  return loss(options, mlp.forward(x, p.n), p.labels, p.n, {}) / static_cast<double>(p.n);
}

/// Central differences at every `stride`th value of `values` against `analytic`.
template <typename F>
void expect_slopes(std::span<float> values, std::span<const float> analytic, std::size_t stride, F&& value) {
  constexpr float h = 4e-3F;
  for (std::size_t i = 0; i < values.size(); i += stride) {
    const float kept = values[i];
    values[i] = kept + h;
    const double up = value();
    values[i] = kept - h;
    const double down = value();
    values[i] = kept;
    EXPECT_NEAR((up - down) / (2.0 * static_cast<double>(h)), analytic[i], 2e-3) << "value " << i;
  }
}

class Losses : public ::testing::TestWithParam<LossKind> {};

TEST_P(Losses, GradientIsTheSlope) {
  const std::array<std::size_t, 4> widths{7, 9, 5, 1};
  Mlp mlp(widths, Activation::sigmoid);
  NumpyRandom random(5);
  mlp.initialize(random);
  const LossOptions options{GetParam(), {0.3, 1.7}, 0};
  Problem p = problem(6, 7);
  const auto y = mlp.forward(p.x, p.n);
  std::vector<float> gradient(p.n);
  (void)loss(options, y, p.labels, p.n, gradient);
  std::vector<float> input_gradient(p.x.size());
  std::vector<std::size_t> order;
  mlp.backward(p.x, gradient, input_gradient, [&](std::size_t layer) { order.push_back(layer); });
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 1, 0}));
  const std::vector<float> analytic(mlp.gradients().begin(), mlp.gradients().end());
  expect_slopes(mlp.parameters(), analytic, 1, [&] { return mean_loss(mlp, p, p.x, options); });
  expect_slopes(p.x, input_gradient, 1, [&] { return mean_loss(mlp, p, p.x, options); });
}

INSTANTIATE_TEST_SUITE_P(All, Losses, ::testing::Values(LossKind::mse, LossKind::bce, LossKind::wbce));

TEST(Mlp, SlicesSumToTheWholeBatch) {
  const std::array<std::size_t, 3> widths{13, 32, 1};
  Mlp mlp(widths, Activation::sigmoid);
  NumpyRandom random(3);
  mlp.initialize(random);
  const Problem p = problem(10, 13);
  const auto gradients_of = [&](std::size_t begin, std::size_t end) {
    const auto x = std::span(p.x).subspan(begin * 13, (end - begin) * 13);
    std::vector<float> gradient(end - begin);
    (void)loss({LossKind::bce}, mlp.forward(x, end - begin), std::span(p.labels).subspan(begin, end - begin), 10,
               gradient);
    mlp.backward(x, gradient, {});
    return std::vector<float>(mlp.gradients().begin(), mlp.gradients().end());
  };
  const auto whole = gradients_of(0, 10);
  const auto a = gradients_of(0, 3);
  const auto none = gradients_of(3, 3);
  const auto b = gradients_of(3, 10);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(whole[i], a[i] + b[i], 1e-6);
    EXPECT_EQ(none[i], 0.0F);
  }
}

TEST(Mlp, WrongSizesAreErrors) {
  const std::array<std::size_t, 2> widths{3, 2};
  Mlp mlp(widths, Activation::relu);
  const std::vector<float> x(5);
  EXPECT_TRUE(contains(error_of([&] { (void)mlp.forward(x, 2); }), "2 x 3"));
  EXPECT_TRUE(contains(error_of([] { Mlp bad(std::array<std::size_t, 2>{3, 0}, Activation::relu); }), "widths"));
}

TEST(Loss, LogsAreClampedAndThresholdStopsTheGradient) {
  const std::array<float, 2> p{0.0F, 1.0F};
  const std::array<float, 2> y{1.0F, 0.0F};
  EXPECT_DOUBLE_EQ(loss({LossKind::bce}, p, y, 2, {}), 200.0);
  std::array<float, 2> gradient{9, 9};
  const double clamped = loss({LossKind::bce, {1, 1}, 0.25}, p, y, 2, gradient);
  EXPECT_NEAR(clamped, -2 * std::log(0.25), 1e-6);
  EXPECT_EQ(gradient[0], 0.0F);
  EXPECT_EQ(gradient[1], 0.0F);
  EXPECT_TRUE(contains(error_of([] { (void)loss_kind("hinge"); }), "hinge"));
}

TEST(LrSchedule, FollowsTheReference) {
  const LrSchedule s{1.0, 4, 6, 5};
  const std::array<double, 13> want{0.25, 0.5, 0.75, 0.75, 0.75, 1.0, 0.64, 0.36, 0.16, 0.04, 0.04, 0.04, 0.04};
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(s.at(i + 1), want[i], 1e-12) << "step " << i + 1;
  }
  EXPECT_EQ((LrSchedule{0.5, 4, 0, 0}.at(3)), 0.5 * 0.75);
  EXPECT_EQ((LrSchedule{0.5, 4, 0, 0}.at(4)), 0.5);
  EXPECT_EQ((LrSchedule{1e-6, 0, 0, 10}.at(9)), 1e-7);  // floor
  EXPECT_TRUE(contains(error_of([] { LrSchedule{1, 5, 3, 2}.validate(); }), "warm-up"));
}

}  // namespace
