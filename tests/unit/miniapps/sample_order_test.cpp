// SPDX-License-Identifier: BSD-3-Clause
#include "common/sample_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/counter_permutation.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;
using Numbers = std::vector<std::uint64_t>;

Numbers counted(std::uint64_t n) {
  Numbers all(n);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

Numbers sorted(Numbers numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Numbers permuted(std::uint64_t count, std::uint64_t seed, std::uint64_t stream) {
  Numbers all = counted(count);
  const CounterPermutation order(count, seed, stream);
  std::transform(all.begin(), all.end(), all.begin(), order);
  return all;
}

TEST(CounterPermutation, HasEachNumberOnce) {
  for (const std::uint64_t count : {1U, 2U, 3U, 4U, 5U, 7U, 64U, 65U, 1000U, 4097U}) {
    for (std::uint64_t stream = 0; stream < 5; ++stream) {
      EXPECT_EQ(sorted(permuted(count, 123, stream)), counted(count)) << count << " numbers";
    }
  }
}

TEST(CounterPermutation, IsOfItsSeedAndStream) {
  EXPECT_NE(permuted(1000, 1, 0), permuted(1000, 1, 1));
  EXPECT_NE(permuted(1000, 1, 0), permuted(1000, 2, 0));
  EXPECT_EQ(permuted(1000, 1, 0), permuted(1000, 1, 0));
  // A checkpoint continues within the order of its epoch: it must not change from version to version.
  EXPECT_EQ(permuted(10, 123, 1), (Numbers{5, 2, 1, 6, 0, 4, 8, 7, 9, 3}));
}

/// Neighbours part: of 10,000 numbers about one has the same place or the same next number.
TEST(CounterPermutation, Mixes) {
  const Numbers order = permuted(10000, 5, 3);
  int kept = 0;
  int followed = 0;
  double distance = 0;
  for (std::uint64_t i = 0; i + 1 < order.size(); ++i) {
    kept += order[i] == i ? 1 : 0;
    followed += order[i + 1] == order[i] + 1 ? 1 : 0;
    distance += static_cast<double>(std::max(order[i], i) - std::min(order[i], i));
  }
  EXPECT_LT(kept, 8);
  EXPECT_LT(followed, 8);
  EXPECT_NEAR(distance / 10000, 10000 / 3.0, 100);
}

TEST(CounterPermutation, TakesMoreThan32Bits) {
  constexpr std::uint64_t count = 4195197692U * 16;
  const CounterPermutation order(count, 123, 0);
  Numbers some(100000);
  for (std::uint64_t i = 0; i < some.size(); ++i) some[i] = order(count - some.size() + i);
  some = sorted(some);
  EXPECT_LT(some.back(), count);
  EXPECT_EQ(std::adjacent_find(some.begin(), some.end()), some.end());
  EXPECT_NEAR(static_cast<double>(some[some.size() / 2]) / static_cast<double>(count), 0.5, 0.01);
}

Numbers epoch_of(SampleOrder& order, std::uint64_t epoch, std::uint64_t count) {
  Numbers numbers(count);
  order.begin_epoch(epoch);
  order.number(0, numbers);
  return numbers;
}

TEST(SampleOrder, IsNewInEachEpochAndTheSameForAllReaders) {
  const std::array<std::uint64_t, 1> days{1000};
  SampleOrder order(Shuffle::epoch, 5, days);
  EXPECT_FALSE(order.has_runs());
  const Numbers first = epoch_of(order, 0, 1000);
  EXPECT_EQ(sorted(first), counted(1000));
  EXPECT_NE(epoch_of(order, 1, 1000), first);
  EXPECT_EQ(epoch_of(order, 0, 1000), first);
  SampleOrder other(Shuffle::epoch, 5, days);
  Numbers part(10);
  other.number(990, part);
  EXPECT_EQ(part, Numbers(first.end() - 10, first.end()));
}

TEST(SampleOrder, BatchesMoveAsAWhole) {
  const std::array<std::uint64_t, 1> days{103};
  SampleOrder order(Shuffle::batches, 5, days);
  EXPECT_TRUE(order.has_runs());
  std::vector<Numbers> epochs;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    order.begin_epoch(epoch);
    Numbers firsts;
    for (std::uint64_t k = 0; k < 10; ++k) firsts.push_back(order.first_of_batch(k, 10));
    EXPECT_EQ(sorted(firsts), (Numbers{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
    EXPECT_EQ(order.first_of_batch(10, 10), 100U) << "the short batch is the last one";
    epochs.push_back(firsts);
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

/// Batches of 50 samples take places [s * 50 / 24, (s + 1) * 50 / 24) from stretch s, which begins at 3 * s * 50 / 24.
TEST(SampleOrder, InterleavedBatchesTakeStretchesInTheirOrder) {
  const std::array<std::uint64_t, 1> days{163};
  const SampleOrder order(Shuffle::interleaved, 5, days);
  Numbers all;
  for (std::uint64_t k = 0; k < 4; ++k) {
    const std::size_t size = k < 3 ? 50 : 13;
    for (std::size_t begin = 0; begin < size;) {
      const SampleRun run = order.run(k, 50, begin, size);
      ASSERT_GT(run.count, 0U);
      for (std::size_t i = 0; i < run.count; ++i) {
        const std::size_t place = begin + i;
        std::size_t stretch = 0;
        while ((stretch + 1) * 50 / 24 <= place) ++stretch;
        const std::size_t low = stretch * 50 / 24;
        const std::size_t width = (stretch + 1) * 50 / 24 - low;
        EXPECT_EQ(run.first + i, k < 3 ? 3 * low + k * width + place - low : 150 + place) << k << ' ' << place;
        all.push_back(run.first + i);
      }
      begin += run.count;
    }
  }
  EXPECT_EQ(sorted(all), counted(163));
  EXPECT_EQ(order.run(1, 50, 3, 50).first, 3 * 2 + 2 + 1U) << "a run may begin within a stretch";
  EXPECT_EQ(order.run(0, 5, 4, 5).first, 32 * 4U) << "batches of fewer samples than stretches";
}

TEST(SampleOrder, NamesAreChecked) {
  EXPECT_EQ(shuffle_kind("interleaved"), Shuffle::interleaved);
  EXPECT_EQ(shuffle_kind("batches"), Shuffle::batches);
  EXPECT_TRUE(contains(error_of([] { (void)shuffle_kind("week"); }), "'week'"));
  const std::array<std::uint64_t, 1> days{std::uint64_t{1} << 32U};
  EXPECT_TRUE(contains(error_of([&] { SampleOrder order(Shuffle::total, 1, days); }), "--data-randomize=epoch"));
}

}  // namespace
