// SPDX-License-Identifier: BSD-3-Clause
#include "sampler.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "optimizer.hpp"

namespace sgd {
namespace {

/// How often each sample of an epoch is used by all ranks together.
std::vector<int> uses(const Sampler& sampler, std::uint64_t samples, std::size_t batch, std::uint64_t epoch,
                      int ranks) {
  std::vector<int> count(samples);
  const auto order = sampler.order(epoch);
  for (std::uint64_t k = 0; k < sampler.batches(); ++k) {
    for (int r = 0; r < ranks; ++r) {
      const auto part = sampler.part(k, r, ranks);
      EXPECT_LE(part.end, sampler.count(k));
      for (std::size_t i = part.begin; i < part.end; ++i) {
        ++count.at(order(k * batch + i));
      }
    }
  }
  return count;
}

TEST(Sampler, EverySampleOnceForAnySizes) {
  for (const std::uint64_t samples : {1U, 2U, 3U, 5U, 16U, 17U, 64U, 97U, 255U, 256U, 257U, 1000U}) {
    for (const std::size_t batch : {1U, 2U, 7U, 16U, 64U, 300U}) {
      for (const int ranks : {1, 2, 3, 4, 7, 16}) {
        for (const Cut cut : {Cut::even, Cut::front}) {
          const Sampler sampler(samples, batch, 5, cut);
          const auto count = uses(sampler, samples, batch, 3, ranks);
          ASSERT_EQ(count, std::vector<int>(samples, 1))
              << samples << " samples, batch " << batch << ", " << ranks << " ranks";
        }
      }
    }
  }
}

TEST(Sampler, BatchesAreThoseOfAnyNumberOfRanks) {
  const Sampler sampler(1003, 64, 9);
  EXPECT_EQ(sampler.batches(), 16U);
  EXPECT_EQ(sampler.count(14), 64U);
  EXPECT_EQ(sampler.count(15), 43U);
  for (const int ranks : {1, 2, 3, 4, 5}) {
    std::size_t next = 0;
    for (int r = 0; r < ranks; ++r) {
      const auto part = sampler.part(15, r, ranks);
      EXPECT_EQ(part.begin, next);
      next = part.end;
    }
    EXPECT_EQ(next, 43U);
  }
}

TEST(Sampler, FrontLeavesTheLastRanksWithoutSamples) {
  const Sampler sampler(64 + 20, 64, 9, Cut::front);
  EXPECT_EQ(sampler.part(1, 0, 4).size(), 16U);
  EXPECT_EQ(sampler.part(1, 1, 4).size(), 4U);
  EXPECT_EQ(sampler.part(1, 2, 4).size(), 0U);
  EXPECT_EQ(sampler.part(1, 3, 4).size(), 0U);
}

TEST(Sampler, OrderDependsOnSeedAndEpoch) {
  const auto list = [](const Permutation& order) {
    std::vector<std::uint64_t> all(500);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = order(i);
    }
    return all;
  };
  const Sampler sampler(500, 10, 1);
  EXPECT_EQ(list(sampler.order(0)), list(Sampler(500, 10, 1).order(0)));
  EXPECT_NE(list(sampler.order(0)), list(sampler.order(1)));
  EXPECT_NE(list(sampler.order(0)), list(Sampler(500, 10, 2).order(0)));
}

// Of a random permutation, the mean distance of neighbours is n / 3, and one element in n stays in its place.
TEST(Sampler, OrderLooksRandom) {
  constexpr std::uint64_t n = 100000;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    const auto order = Sampler(n, 10, 7).order(epoch);
    double distance = 0;
    std::uint64_t fixed = 0;
    for (std::uint64_t i = 0; i + 1 < n; ++i) {
      const auto a = static_cast<double>(order(i));
      distance += std::abs(a - static_cast<double>(order(i + 1)));
      fixed += order(i) == i ? 1 : 0;
    }
    EXPECT_NEAR(distance / static_cast<double>(n - 1) / n, 1.0 / 3, 0.005) << "epoch " << epoch;
    EXPECT_LT(fixed, 12U) << "epoch " << epoch;
  }
}

TEST(Sampler, LargeOrdersNeedNoMemory) {
  const Sampler sampler(std::uint64_t{1} << 40U, 1024, 3);
  const auto order = sampler.order(0);
  EXPECT_LT(order(123456789), std::uint64_t{1} << 40U);
  EXPECT_NE(order(0), order(1));
}

TEST(Schedule, RatesByHand) {
  Schedule s;
  s.base = 0.8;
  EXPECT_DOUBLE_EQ(s.at(1), 0.8);
  s.warmup_steps = 4;
  EXPECT_DOUBLE_EQ(s.at(1), 0.2);
  EXPECT_DOUBLE_EQ(s.at(3), 0.6);
  EXPECT_DOUBLE_EQ(s.at(4), 0.8);
  s.kind = "step";
  s.every = 10;
  s.factor = 0.5;
  EXPECT_DOUBLE_EQ(s.at(13), 0.8);
  EXPECT_DOUBLE_EQ(s.at(14), 0.4);
  EXPECT_DOUBLE_EQ(s.at(24), 0.2);
  s.kind = "cosine";
  s.last_step = 104;
  EXPECT_DOUBLE_EQ(s.at(4), 0.8);
  EXPECT_NEAR(s.at(54), 0.6, 1e-12);
  EXPECT_NEAR(s.at(104), 0.4, 1e-12);
}

}  // namespace
}  // namespace sgd
