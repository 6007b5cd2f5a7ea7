// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tutti/error.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <vector>

namespace {

using namespace tutti;
using namespace tutti::kernels;

struct Reference {
  const char* name;
  DenseUpdate update;
  double after_three_steps[4];  // torch 2.14 in float64, from {0.5, -1.25, 3, 0} with the gradients of gradient_of()
};

DenseUpdate sgd(double momentum, bool nesterov, double weight_decay) {
  DenseUpdate update;
  update.learning_rate = 0.1;
  update.momentum = momentum;
  update.nesterov = nesterov;
  update.weight_decay = weight_decay;
  return update;
}

DenseUpdate adaptive(DenseOptimizer optimizer, double rate, double weight_decay, double epsilon) {
  DenseUpdate update;
  update.optimizer = optimizer;
  update.learning_rate = rate;
  update.weight_decay = weight_decay;
  update.epsilon = epsilon;
  return update;
}

DenseUpdate other_betas() {
  DenseUpdate update = adaptive(DenseOptimizer::adam, 0.01, 0, 1e-6);
  update.beta1 = 0.8;
  update.beta2 = 0.99;
  return update;
}

const Reference references[] = {
    {"sgd", sgd(0, false, 0), {0.35, -1.16, 2.725, 0.014}},
    {"decay", sgd(0, false, 0.01), {0.3486014745, -1.15636370875, 2.716383847, 0.013994001}},
    {"momentum", sgd(0.9, false, 0.01), {0.25959237449999994, -1.05777545875, 2.384829247, 0.019302201}},
    {"nesterov", sgd(0.9, true, 0.01), {0.13244522909549997, -0.9836160720662499, 2.1636091245729996, 0.031354268859}},
    {"adagrad",
     adaptive(DenseOptimizer::adagrad, 0.1, 0.01, 1e-10),
     {0.23077106533954544, -1.051960319161271, 2.825205188202355, 0.28780650822258946}},
    {"adam",
     adaptive(DenseOptimizer::adam, 0.01, 0.01, 1e-8),
     {0.47074697800732523, -1.2207063754315803, 2.971859562213648, 0.027501314619480407}},
    {"adam, other betas",
     other_betas(),
     {0.4702639362655537, -1.221057258528306, 2.972467195270548, 0.028294430381789464}},
};

std::vector<double> gradient_of(double step) {
  return {0.25 * step, -0.5 + 0.1 * step, 1.5 / step, -0.01 * step * step};
}

template <typename T>
std::vector<T> after_three_steps(const DenseUpdate& update) {
  std::vector<T> parameters{T(0.5), T(-1.25), T(3), T(0)};
  std::vector<T> state(4 * state_values(update));
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const std::vector<double> gradient = gradient_of(static_cast<double>(step));
    const std::vector<T> rounded(gradient.begin(), gradient.end());
    dense_update(update, step, std::span<T>(parameters), std::span<const T>(rounded), std::span<T>(state));
  }
  return parameters;
}

TEST(DenseUpdates, GiveTorchsValues) {
  for (const Reference& reference : references) {
    const auto wide = after_three_steps<double>(reference.update);
    const auto narrow = after_three_steps<float>(reference.update);
    for (std::size_t i = 0; i < 4; ++i) {
      const double expected = reference.after_three_steps[i];
      EXPECT_NEAR(wide[i], expected, 4e-16 * std::fabs(expected) + 1e-17) << reference.name << " " << i;
      EXPECT_NEAR(narrow[i], expected, 4e-7 * std::fabs(expected) + 1e-9) << reference.name << " " << i;
    }
  }
}

/// The published formulas, written down anew for one value in float64.
double one_step(const DenseUpdate& u, int step, double w, double g, double& a, double& b) {
  g += u.weight_decay * w;
  if (u.optimizer == DenseOptimizer::sgd) {
    a = step == 1 ? g : u.momentum * a + g;
    return w - u.learning_rate * (u.nesterov ? g + u.momentum * a : a);
  }
  if (u.optimizer == DenseOptimizer::adagrad) {
    a += g * g;
    return w - u.learning_rate * g / (std::sqrt(a) + u.epsilon);
  }
  a = u.beta1 * a + (1 - u.beta1) * g;
  b = u.beta2 * b + (1 - u.beta2) * g * g;
  const double mean = a / (1 - std::pow(u.beta1, step));
  const double square = b / (1 - std::pow(u.beta2, step));
  return w - u.learning_rate * mean / (std::sqrt(square) + u.epsilon);
}

TEST(DenseUpdates, FollowTheFormulasOverManySteps) {
  constexpr std::size_t count = 1003;
  for (const Reference& reference : references) {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    std::vector<double> parameters(count);
    for (double& w : parameters) w = normal(generator);
    std::vector<double> expected = parameters;
    std::vector<double> a(count), b(count), state(count * state_values(reference.update));
    for (int step = 1; step <= 50; ++step) {
      std::vector<double> gradients(count);
      for (double& g : gradients) g = normal(generator);
      for (std::size_t i = 0; i < count; ++i)
        expected[i] = one_step(reference.update, step, expected[i], gradients[i], a[i], b[i]);
      dense_update(reference.update, static_cast<std::uint64_t>(step), std::span<double>(parameters),
                   std::span<const double>(gradients), std::span<double>(state));
    }
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(parameters[i], expected[i], 1e-12) << reference.name << " " << i;
  }
}

/// An update of parts, at any cut, has the bits of the update of the whole.
TEST(DenseUpdates, HaveTheSameBitsInParts) {
  constexpr std::size_t count = 300'007;
  for (const Reference& reference : references) {
    const std::size_t values = state_values(reference.update);
    std::mt19937 generator(3);
    std::normal_distribution<float> normal;
    std::vector<float> whole(count), gradients(count), whole_state(values * count);
    for (float& w : whole) w = normal(generator);
    std::vector<float> parts = whole;
    const std::size_t cuts[] = {0, 1, 18, 4099, 200'000, count};
    std::vector<std::vector<float>> states;
    for (std::size_t c = 0; c + 1 < std::size(cuts); ++c) states.emplace_back(values * (cuts[c + 1] - cuts[c]));
    for (std::uint64_t step = 1; step <= 3; ++step) {
      for (float& g : gradients) g = normal(generator);
      const std::span<const float> all(gradients);
      dense_update(reference.update, step, std::span<float>(whole), all, std::span<float>(whole_state));
      for (std::size_t c = 0; c + 1 < std::size(cuts); ++c) {
        const std::size_t length = cuts[c + 1] - cuts[c];
        dense_update(reference.update, step, std::span<float>(parts).subspan(cuts[c], length),
                     all.subspan(cuts[c], length), std::span<float>(states[c]));
      }
    }
    EXPECT_EQ(whole, parts) << reference.name;
  }
}

TEST(DenseUpdates, RefuseWrongLengthsAndStepZero) {
  DenseUpdate adam;
  adam.optimizer = DenseOptimizer::adam;
  std::vector<float> four(4), three(3), eight(8);
  const auto call = [&](std::uint64_t step, std::vector<float>& gradients, std::vector<float>& state) {
    dense_update(adam, step, std::span<float>(four), std::span<const float>(gradients), std::span<float>(state));
  };
  EXPECT_NO_THROW(call(1, four, eight));
  EXPECT_THROW(call(1, three, eight), Error);
  EXPECT_THROW(call(1, four, four), Error);
  EXPECT_THROW(call(0, four, eight), Error);
}

}  // namespace
