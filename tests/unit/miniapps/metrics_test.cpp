// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "common/metrics.hpp"
#include "common/numpy_random.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;

/// `kept`: the number of samples that is told, above which scores are counted by intervals.
Metrics metrics_of(std::span<const float> scores, std::span<const float> labels, std::uint64_t kept = 0) {
  MetricsSum sum(kept);
  sum.add(scores.first(scores.size() / 3), labels.first(scores.size() / 3));
  sum.add(scores.subspan(scores.size() / 3), labels.subspan(scores.size() / 3));
  return sum.metrics();
}

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
    const Metrics metrics = metrics_of(scores, labels);
    EXPECT_EQ(metrics.auc, brute_force(scores, labels));
    EXPECT_EQ(metrics.samples, 400U);
    const std::vector<float> back_scores(scores.rbegin(), scores.rend());
    const std::vector<float> back_labels(labels.rbegin(), labels.rend());
    EXPECT_EQ(metrics_of(back_scores, back_labels).log_loss, metrics.log_loss) << "order must not matter";
    const Metrics counted = metrics_of(scores, labels, MetricsSum::exact_auc + 1);
    EXPECT_EQ(counted.auc, metrics.auc) << "the levels lie in intervals of their own";
    EXPECT_EQ(counted.log_loss, metrics.log_loss);
  }
}

TEST(Metrics, AccuracyAndLogLoss) {
  const std::vector<float> scores{0.9F, 0.5F, 0.25F, 0.75F};
  const std::vector<float> labels{1, 1, 0, 0};
  const Metrics metrics = metrics_of(scores, labels);
  EXPECT_EQ(metrics.accuracy, 0.5);  // 0.5 rounds to even, that is 0
  EXPECT_NEAR(metrics.log_loss, -(std::log(0.9) + std::log(0.5) + std::log(0.75) + std::log(0.25)) / 4, 1e-7);
  EXPECT_EQ(metrics.auc, 0.75);
}

TEST(Metrics, EntropyAndCalibrationAreThoseOfTheShareOfOnes) {
  const std::vector<float> share(8, 0.25F);
  const std::vector<float> labels{0, 1, 0, 0, 0, 0, 1, 0};
  const Metrics metrics = metrics_of(share, labels);
  EXPECT_NEAR(metrics.normalized_entropy, 1, 1e-15);
  EXPECT_EQ(metrics.calibration, 1);
  EXPECT_EQ(metrics.auc, 0.5);
  EXPECT_EQ(metrics_of(std::vector<float>(8, 0.5F), labels).calibration, 2);
}

TEST(Metrics, CountsScoresOfOneIntervalAsTies) {
  const std::vector<float> scores{0.5F, 0.5F + 0x1p-23F, 0, 1};
  const std::vector<float> labels{1, 0, 0, 1};
  EXPECT_EQ(metrics_of(scores, labels).auc, 0.75);
  EXPECT_EQ(metrics_of(scores, labels, MetricsSum::exact_auc + 1).auc, 0.875);
}

TEST(Metrics, OfOneClassHaveNoAuc) {
  const std::vector<float> scores{0.5F, 0.25F, 0.75F};
  for (const float label : {0.0F, 1.0F}) {
    const Metrics metrics = metrics_of(scores, std::vector<float>(3, label));
    EXPECT_TRUE(std::isnan(metrics.auc) && std::isnan(metrics.normalized_entropy));
    EXPECT_TRUE(std::isfinite(metrics.log_loss) && std::isfinite(metrics.accuracy));
    EXPECT_EQ(std::isnan(metrics.calibration), label == 0.0F);
  }
}

TEST(Metrics, NanAndWrongLabelsAreErrors) {
  const std::vector<float> labels{0, 1, 1};
  const std::vector<float> nan{0.5F, std::numeric_limits<float>::quiet_NaN(), 0.1F};
  EXPECT_TRUE(contains(error_of([&] { (void)metrics_of(nan, labels); }), "sample 1 is NaN"));
  const std::vector<float> fine{0.5F, 0.2F, 0.1F};
  const std::vector<float> odd{0, 1, 0.5F};
  EXPECT_TRUE(contains(error_of([&] { (void)metrics_of(fine, odd); }), "neither 0 nor 1"));
  MetricsSum sum(3);
  sum.add(std::span<const float>(fine).first(2), labels);
  EXPECT_TRUE(contains(error_of([&] { (void)sum.metrics(); }), "2 scores"));
}

}  // namespace
