// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <tutti/counts.hpp>

namespace tutti {
namespace {

std::span<const std::size_t> numbers(const Counts& counts) { return counts; }

TEST(Counts, SizesAreViewed) {
  const std::vector<std::size_t> sizes{3, 0, 5};
  EXPECT_EQ(numbers(sizes).data(), sizes.data());
  EXPECT_EQ(numbers(std::span(sizes).first(2)).size(), 2U);
  EXPECT_TRUE(numbers({}).empty());
}

TEST(Counts, OtherIntegersAreCopied) {
  const std::array<int, 3> ints{3, 0, 5};
  const Counts counts = ints;
  ASSERT_EQ(numbers(counts).size(), 3U);
  EXPECT_EQ(numbers(counts)[2], 5U);
  const Counts longs = std::vector<long long>{7};
  EXPECT_EQ(numbers(longs)[0], 7U);
}

TEST(Counts, NegativeOnesAreTooLargeForAnyMemory) {
  const Counts counts = std::vector<int>{-1, 2};
  EXPECT_EQ(numbers(counts)[0], std::numeric_limits<std::size_t>::max());
}

}  // namespace
}  // namespace tutti
