// SPDX-License-Identifier: BSD-3-Clause
#include "common/bag_sorter.hpp"

#include <gtest/gtest.h>

#include <set>

#include "common/counter_random.hpp"

namespace tutti::miniapps {
namespace {

std::vector<std::int64_t> drawn(std::size_t count, std::uint64_t rows, std::uint64_t power) {
  const CounterRandom random(7, count);
  std::vector<std::int64_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) {
    double share = random.uniform(i);
    for (std::uint64_t p = 1; p < power; ++p) {
      share *= random.uniform(i);
    }
    indices[i] = static_cast<std::int64_t>(share * static_cast<double>(rows));
  }
  return indices;
}

/// Spread evenly, and crowded at the first rows.
TEST(BagSorter, AppendsEachIndexOnceInOrder) {
  BagSorter sorter;
  for (const std::uint64_t power : {1U, 8U}) {
    for (const std::size_t count : {0U, 1U, 2U, 16U, 17U, 100U, 129U, 1000U}) {
      for (const std::uint64_t rows : {1UL, 2UL, 3UL, 64UL, 1000000UL, 1UL << 40U}) {
        auto indices = drawn(count, rows, power);
        const std::set<std::int64_t> want(indices.begin(), indices.end());
        std::vector<std::int64_t> out{5, 3};
        sorter.append(indices, rows, out);
        ASSERT_GE(out.size(), 2U);
        EXPECT_EQ(out[1], 3);
        EXPECT_EQ(std::vector<std::int64_t>(out.begin() + 2, out.end()),
                  std::vector<std::int64_t>(want.begin(), want.end()))
            << count << " of " << rows;
      }
    }
  }
}

TEST(BagSorter, TakesTheFirstAndLastRow) {
  BagSorter sorter;
  for (const std::uint64_t rows : {20UL, 64UL, 65UL, 1000UL}) {
    std::vector<std::int64_t> indices(40, static_cast<std::int64_t>(rows - 1));
    indices[11] = 0;
    std::vector<std::int64_t> out;
    sorter.append(indices, rows, out);
    EXPECT_EQ(out, (std::vector<std::int64_t>{0, static_cast<std::int64_t>(rows - 1)}));
  }
}

}  // namespace
}  // namespace tutti::miniapps
