// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>
#include <tutti/error.hpp>
#include <tutti/kernels/interaction.hpp>
#include <vector>

namespace {

using namespace tutti::kernels;

/// Feature 0 in an array of its own, the others [sample][feature][dim] with a gap between samples.
struct Data {
  Data(const DotInteraction& shape, std::size_t samples)
      : dense(samples * (shape.dim + 1)), others(samples * (shape.features * shape.dim + 2)) {
    std::mt19937 generator(5);
    for (auto* values : {&dense, &others}) {
      for (auto& x : *values) x = static_cast<float>(static_cast<int>(generator() % 201) - 100) / 100.0F;
    }
  }
  template <typename Float>
  std::vector<Pooled<Float>> features(const DotInteraction& shape) {
    std::vector<Pooled<Float>> result{{dense.data(), shape.dim + 1}};
    for (std::size_t f = 1; f < shape.features; ++f) {
      result.push_back({others.data() + (f - 1) * shape.dim, shape.features * shape.dim + 2});
    }
    return result;
  }
  std::vector<float> dense;
  std::vector<float> others;
};

double value(const Pooled<const float>& feature, std::size_t sample, std::size_t d) {
  return static_cast<double>(feature.data[sample * feature.stride + d]);
}

void check_forward(DotInteraction shape, std::size_t samples) {
  Data data(shape, samples);
  const auto inputs = data.features<const float>(shape);
  const std::size_t stride = shape.width() + 5;
  std::vector<float> output(samples * stride, -9.0F);
  dot_interaction_forward(shape, samples, inputs, output.data(), stride);
  for (std::size_t b = 0; b < samples; ++b) {
    const float* row = output.data() + b * stride;
    std::size_t at = 0;
    for (; at < shape.dim; ++at) ASSERT_EQ(static_cast<double>(row[at]), value(inputs[0], b, at));
    for (std::size_t i = 0; i < shape.features; ++i) {
      for (std::size_t j = 0; j < (shape.itself ? i + 1 : i); ++j) {
        double product = 0;
        for (std::size_t d = 0; d < shape.dim; ++d) product += value(inputs[i], b, d) * value(inputs[j], b, d);
        ASSERT_NEAR(row[at++], product, 2e-5) << "sample " << b << " pair " << i << ',' << j;
      }
    }
    ASSERT_EQ(at, shape.width());
    for (; at < stride; ++at) ASSERT_EQ(row[at], -9.0F) << "wrote behind the row";
  }
  for (const std::size_t partitions : {2U, 3U, 7U}) {
    std::vector<float> other(output.size(), -9.0F);
    shape.partitions = partitions;
    dot_interaction_forward(shape, samples, inputs, other.data(), stride);
    EXPECT_EQ(other, output);
  }
}

void check_backward(DotInteraction shape, std::size_t samples) {
  Data data(shape, samples);
  Data result(shape, samples);
  const auto inputs = data.features<const float>(shape);
  std::vector<float> gradient(samples * shape.width());
  std::mt19937 generator(9);
  for (auto& g : gradient) g = static_cast<float>(static_cast<int>(generator() % 201) - 100) / 100.0F;
  const auto outputs = result.features<float>(shape);
  dot_interaction_backward(shape, samples, inputs, gradient.data(), shape.width(), outputs);
  for (std::size_t b = 0; b < samples; ++b) {
    std::vector<double> expected(shape.features * shape.dim, 0.0);
    const float* g = gradient.data() + b * shape.width();
    for (std::size_t d = 0; d < shape.dim; ++d) expected[d] = static_cast<double>(*g++);
    for (std::size_t i = 0; i < shape.features; ++i) {
      for (std::size_t j = 0; j < (shape.itself ? i + 1 : i); ++j, ++g) {
        for (std::size_t d = 0; d < shape.dim; ++d) {
          expected[i * shape.dim + d] += static_cast<double>(*g) * value(inputs[j], b, d);
          expected[j * shape.dim + d] += static_cast<double>(*g) * value(inputs[i], b, d);
        }
      }
    }
    for (std::size_t f = 0; f < shape.features; ++f) {
      for (std::size_t d = 0; d < shape.dim; ++d) {
        ASSERT_NEAR(outputs[f].data[b * outputs[f].stride + d], expected[f * shape.dim + d], 2e-5) << f << ' ' << d;
      }
    }
  }
  for (const std::size_t partitions : {2U, 7U}) {
    Data other(shape, samples);
    shape.partitions = partitions;
    dot_interaction_backward(shape, samples, inputs, gradient.data(), shape.width(), other.features<float>(shape));
    EXPECT_EQ(other.dense, result.dense);
    EXPECT_EQ(other.others, result.others);
  }
}

TEST(Interaction, EveryNumberOfFeatures) {
  for (std::size_t features = 1; features <= 34; ++features) {
    for (const bool itself : {false, true}) {
      SCOPED_TRACE(std::to_string(features) + (itself ? " with itself" : ""));
      check_forward({features, 16, itself, 1}, 5);
      check_backward({features, 16, itself, 1}, 5);
    }
  }
}

TEST(Interaction, EveryDimension) {
  for (const std::size_t dim : {1U, 2U, 3U, 7U, 8U, 9U, 15U, 17U, 64U, 100U, 128U}) {
    SCOPED_TRACE(dim);
    check_forward({9, dim, false, 1}, 4);
    check_backward({9, dim, true, 1}, 4);
  }
}

TEST(Interaction, RefusesAnotherNumberOfFeatures) {
  float x[4] = {};
  const std::vector<Pooled<const float>> one{{x, 1}};
  EXPECT_THROW(dot_interaction_forward({2, 1}, 1, one, x, 4), tutti::Error);
}

}  // namespace
