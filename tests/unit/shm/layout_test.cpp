// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/layout.hpp"

#include <gtest/gtest.h>

namespace tutti::test {
namespace {

using namespace detail::shm;

TEST(Layout, NothingOverlapsAndAllStartsOnALine) {
  for (const int size : {2, 3, 8, 31, most_ranks}) {
    const Layout layout(size);
    std::size_t end = sizeof(std::uint64_t);
    const auto follows = [&end](std::size_t begin, std::size_t bytes) {
      EXPECT_EQ(begin % cache_line, 0U);
      EXPECT_GE(begin, end);
      end = begin + bytes;
    };
    for (int rank = 0; rank < size; ++rank) {
      follows(layout.control(rank), sizeof(Control));
      for (int number = 0; number < all_cells; ++number) {
        follows(layout.cell(rank, number), sizeof(Cell));
        follows(layout.pairs(rank, number), static_cast<std::size_t>(size) * sizeof(Pair));
        follows(layout.slot(rank, number), slot_bytes);
      }
    }
    EXPECT_LE(end, layout.total(size));
    EXPECT_LT(layout.total(size) - end, 2 * cache_line);
  }
}

// The bound that docs/semantics.md states.
TEST(Layout, ARankSharesAtMostFourMebibytes) {
  for (int size = 1; size <= most_ranks; ++size) EXPECT_LE(Layout(size).rank_bytes(), std::size_t{4} << 20U) << size;
}

TEST(Generation, WordsOfOthersCountAsZero) {
  EXPECT_EQ(count_of(tagged(7, 12), 7), 12U);
  EXPECT_EQ(count_of(tagged(7, 12), 8), 0U);
  EXPECT_EQ(count_of(tagged(7, 12), 6), 0U);
  EXPECT_EQ(count_of(0, 1), 0U);
}

TEST(Generation, CountsOnWhenItsBitsAreUsedUp) {
  const Generation last = (Generation{1} << (64 - count_bits)) - 1;
  for (const Generation g : {last, last + 1, last + 2}) {
    EXPECT_EQ(count_of(tagged(g, 3), g), 3U);
    EXPECT_EQ(count_of(tagged(g - 1, 3), g), 0U);
  }
}

}  // namespace
}  // namespace tutti::test
