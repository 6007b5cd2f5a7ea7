// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/metrics.hpp"
#include "common/numpy_random.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

double brute_force(const std::vector<float>& scores, const std::vector<float>& labels) {
  std::uint64_t twice = 0;
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] == 1.0F && labels[j] == 0.0F) {
        ++pairs;
        twice += scores[i] > scores[j] ? 2 : scores[i] == scores[j] ? 1 : 0;
      }
    }
  }
  return static_cast<double>(twice) / (2.0 * static_cast<double>(pairs));
}

TEST(Metrics, AucWithTiesIsTheCountOfPairs) {
  NumpyRandom random(1);
  for (const int levels : {2, 5, 30, 100000}) {
    std::vector<float> scores;
    std::vector<float> labels;
    for (int i = 0; i < 400; ++i) {
      const double u = random.random_sample();
      scores.push_back(static_cast<float>(std::floor(u * levels) / levels));
      labels.push_back(random.random_sample() < 0.3 + 0.4 * u ? 1.0F : 0.0F);
    }
    const Metrics metrics = evaluate(scores, labels);
    EXPECT_EQ(metrics.auc, brute_force(scores, labels));
    EXPECT_EQ(metrics.samples, 400U);
    const std::vector<float> back_scores(scores.rbegin(), scores.rend());
    const std::vector<float> back_labels(labels.rbegin(), labels.rend());
    EXPECT_EQ(evaluate(back_scores, back_labels).log_loss, metrics.log_loss) << "order must not matter";
  }
}

TEST(Metrics, AccuracyAndLogLoss) {
  const std::vector<float> scores{0.9F, 0.5F, 0.25F, 0.75F};
  const std::vector<float> labels{1, 1, 0, 0};
  const Metrics metrics = evaluate(scores, labels);
  EXPECT_EQ(metrics.accuracy, 0.5);  // 0.5 rounds to even, that is 0
  EXPECT_NEAR(metrics.log_loss, -(std::log(0.9) + std::log(0.5) + std::log(0.75) + std::log(0.25)) / 4, 1e-7);
  EXPECT_EQ(metrics.auc, 0.75);
}

TEST(Metrics, NanOneClassAndWrongLabelsAreErrors) {
  const std::vector<float> labels{0, 1, 1};
  const std::vector<float> nan{0.5F, std::numeric_limits<float>::quiet_NaN(), 0.1F};
  EXPECT_TRUE(contains(error_of([&] { (void)evaluate(nan, labels); }), "sample 1 is NaN"));
  const std::vector<float> fine{0.5F, 0.2F, 0.1F};
  const std::vector<float> ones{1, 1, 1};
  EXPECT_TRUE(contains(error_of([&] { (void)evaluate(fine, ones); }), "one class"));
  const std::vector<float> odd{0, 1, 0.5F};
  EXPECT_TRUE(contains(error_of([&] { (void)evaluate(fine, odd); }), "neither 0 nor 1"));
  EXPECT_TRUE(contains(error_of([&] { (void)evaluate(std::span<const float>(fine).first(2), labels); }), "2 scores"));
}

}  // namespace
