// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "training/reducer/bucket_plan.hpp"

namespace tutti::detail::reducer {
namespace {

/// From the bucket's first byte to the last of its last gradient, with the padding between gradients.
std::size_t bytes_of(const std::vector<std::size_t>& bucket, std::span<const ParameterSize> parameters) {
  const ParameterSize& last = parameters[bucket.back()];
  return entry_offsets(parameters, bucket).back() * Datatype(last.type).size() + last.bytes();
}

std::size_t bytes_with(std::vector<std::size_t> bucket, std::size_t another,
                       std::span<const ParameterSize> parameters) {
  bucket.push_back(another);
  return bytes_of(bucket, parameters);
}

/// Everything that the plan promises, checked from the definition.
void check(const BucketPlan& plan, std::span<const ParameterSize> parameters, std::span<const std::size_t> order,
           const BucketLimits& limits) {
  std::vector<std::size_t> place(parameters.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  std::vector<int> seen(parameters.size(), 0);
  std::map<DatatypeKind, std::vector<std::size_t>> of_type;
  std::size_t last = 0;
  for (std::size_t b = 0; b < plan.size(); ++b) {
    ASSERT_FALSE(plan[b].empty());
    const DatatypeKind type = parameters[plan[b][0]].type;
    for (std::size_t k = 0; k < plan[b].size(); ++k) {
      ++seen[plan[b][k]];
      EXPECT_EQ(parameters[plan[b][k]].type, type);
      if (k > 0) {
        EXPECT_LT(place[plan[b][k - 1]], place[plan[b][k]]);
      }
    }
    const std::size_t end = place[plan[b].back()];
    if (b > 0) {
      EXPECT_GT(end, last) << "a bucket that is full later is launched earlier";
    }
    last = end;
    auto& earlier = of_type[type];
    const std::size_t limit = earlier.empty() ? std::min(limits.first, limits.bytes) : limits.bytes;
    if (plan[b].size() > 1) {
      EXPECT_LE(bytes_of(plan[b], parameters), limit);
    }
    if (!earlier.empty()) {
      const auto& before = plan[earlier.back()];
      const std::size_t room = earlier.size() == 1 ? std::min(limits.first, limits.bytes) : limits.bytes;
      EXPECT_GT(bytes_with(before, plan[b][0], parameters), room) << "one more would have fitted";
      EXPECT_LT(place[before.back()], place[plan[b][0]]);
    }
    earlier.push_back(b);
  }
  for (const int times : seen) EXPECT_EQ(times, 1);
}

TEST(BucketPlan, KeepsItsPromisesForManyShapesLimitsAndOrders) {
  std::mt19937 random(1);
  constexpr DatatypeKind types[] = {DatatypeKind::float32, DatatypeKind::float64, DatatypeKind::bfloat16};
  for (int round = 0; round < 400; ++round) {
    std::vector<ParameterSize> parameters(random() % 60);
    const std::size_t kinds = 1 + random() % 3;
    for (ParameterSize& p : parameters)
      p = {random() % 4 == 0 ? random() % 3 : random() % 5'000, types[random() % kinds]};
    std::vector<std::size_t> order = reverse_order(parameters.size());
    if (round % 2 == 1) std::shuffle(order.begin(), order.end(), random);
    for (const BucketLimits limits : {BucketLimits{1, 1}, {4'000, 500}, {20'000, 1'000'000}, {1U << 30U, 4'096}})
      check(plan_buckets(parameters, order, limits), parameters, order, limits);
  }
}

TEST(BucketPlan, AParameterLargerThanTheLimitIsABucket) {
  const std::vector<ParameterSize> parameters{{10}, {1'000}, {10}, {10}};
  const BucketPlan expected{{3, 2}, {1}, {0}};
  EXPECT_EQ(plan_buckets(parameters, reverse_order(4), {104, 104}), expected);
}

TEST(BucketPlan, PaddingCounts) {
  const std::vector<ParameterSize> parameters{{10}, {10}, {10}};  // 40 bytes each, 64 with padding
  const auto buckets = [&](std::size_t limit) {
    return plan_buckets(parameters, reverse_order(3), {limit, limit}).size();
  };
  EXPECT_EQ(buckets(103), 3U);
  EXPECT_EQ(buckets(104), 2U);
  EXPECT_EQ(buckets(167), 2U);
  EXPECT_EQ(buckets(168), 1U);
}

TEST(BucketPlan, AnInterleavedTypeDoesNotCloseABucket) {
  using enum DatatypeKind;
  const std::vector<ParameterSize> parameters{{10, float32}, {10, float64}, {10, float32}, {10, float64}};
  // Full is first the one whose last gradient comes first.
  const BucketPlan expected{{3, 1}, {2, 0}};
  EXPECT_EQ(plan_buckets(parameters, reverse_order(4), {1'000, 1'000}), expected);
}

TEST(BucketPlan, Bert) {
  constexpr std::size_t h = 768;
  std::vector<ParameterSize> parameters{{30'522 * h}, {512 * h}, {2 * h}, {h}, {h}};
  for (int layer = 0; layer < 12; ++layer)
    for (const std::size_t count :
         {h * h, h, h * h, h, h * h, h, h * h, h, h, h, 3'072 * h, 3'072UL, h * 3'072, h, h, h})
      parameters.push_back({count});
  parameters.push_back({h * h});
  parameters.push_back({h});
  const auto order = reverse_order(parameters.size());
  constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  const BucketLimits limits{25 * mebibyte, mebibyte};
  const BucketPlan plan = plan_buckets(parameters, order, limits);
  check(plan, parameters, order, limits);
  EXPECT_EQ(plan.size(), 17U);
  EXPECT_EQ(plan.front(), std::vector<std::size_t>{parameters.size() - 1});
  EXPECT_EQ(plan.back(), std::vector<std::size_t>{0}) << "the embedding, 89 MiB, comes last and alone";
}

TEST(BucketPlan, NoParameters) { EXPECT_TRUE(plan_buckets({}, {}, {100, 100}).empty()); }

TEST(Order, WhatDidNotArriveComesLast) {
  EXPECT_EQ(reverse_order(3), (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(complete_order(std::vector<std::size_t>{3, 0}, 5), (std::vector<std::size_t>{3, 0, 4, 2, 1}));
  EXPECT_EQ(complete_order({}, 2), (std::vector<std::size_t>{1, 0}));
}

TEST(Entries, AreAlignedAndDoNotMeet) {
  const std::vector<ParameterSize> parameters{{3, DatatypeKind::bfloat16},
                                              {0, DatatypeKind::bfloat16},
                                              {33, DatatypeKind::bfloat16},
                                              {1, DatatypeKind::float64}};
  EXPECT_EQ(entry_offsets(parameters, std::vector<std::size_t>{0, 1, 2, 0}), (std::vector<std::size_t>{0, 32, 32, 96}));
  EXPECT_EQ(padded_bytes(parameters[0]), 64U);
  EXPECT_EQ(padded_bytes(parameters[1]), 0U);
  EXPECT_EQ(padded_bytes(parameters[2]), 128U);
  EXPECT_EQ(padded_bytes(parameters[3]), 64U);
}

}  // namespace
}  // namespace tutti::detail::reducer
