// SPDX-License-Identifier: BSD-3-Clause
#include "common/metrics.hpp"

#include <limits>

#include "common/agree.hpp"
#include "training_runs.hpp"

namespace sgd {
namespace {

using tutti::miniapps::AgreedError;
using tutti::miniapps::Metrics;
using tutti::miniapps::MetricsSum;

struct Predictions {
  std::vector<float> scores;
  std::vector<float> labels;
};

Predictions predictions(std::size_t n) {
  Predictions p;
  for (std::size_t i = 0; i < n; ++i) {
    p.scores.push_back(static_cast<float>(i * 37 % n) / static_cast<float>(n));
    p.labels.push_back(i * 53 % 7 < 3 ? 1.0F : 0.0F);
  }
  return p;
}

void expect_equal(const Metrics& got, const Metrics& want) {
  EXPECT_EQ(got.samples, want.samples);
  EXPECT_EQ(got.auc, want.auc);
  EXPECT_EQ(got.accuracy, want.accuracy);
  EXPECT_EQ(got.log_loss, want.log_loss);
  EXPECT_EQ(got.normalized_entropy, want.normalized_entropy);
  EXPECT_EQ(got.calibration, want.calibration);
}

TEST(Application, MetricsOfAllRanksAreThoseOfOne) {
  const auto comm = world();
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto ranks = static_cast<std::size_t>(comm.size());
  const Predictions all = predictions(1009);
  for (const std::uint64_t told : {std::uint64_t{1009}, MetricsSum::exact_auc + 1}) {
    MetricsSum one(told);
    one.add(all.scores, all.labels);
    MetricsSum mine(told);
    for (std::size_t i = rank; i < all.scores.size(); i += ranks)
      mine.add(std::span(all.scores).subspan(i, 1), std::span(all.labels).subspan(i, 1));
    mine.combine(comm);
    expect_equal(mine.metrics(), one.metrics());
  }
}

TEST(Application, FaultyScoresAreAnErrorOnAllRanks) {
  const auto comm = world();
  const std::vector<float> scores{0.5F,
                                  comm.rank() == comm.size() - 1 ? std::numeric_limits<float>::quiet_NaN() : 0.25F};
  MetricsSum sum(2);
  sum.add(scores, std::vector<float>{0, 1});
  EXPECT_THROW(sum.combine(comm), AgreedError);
}

}  // namespace
}  // namespace sgd
