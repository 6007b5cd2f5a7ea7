// SPDX-License-Identifier: BSD-3-Clause
#include "placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace dlrm {
namespace {

std::vector<TableCost> costs(const std::vector<double>& rows) {
  std::vector<TableCost> result;
  for (const double r : rows) {
    result.push_back({r, 1.0});
  }
  return result;
}

TEST(BatchSlice, CoversEverySampleOnce) {
  for (const std::size_t batch : {0U, 1U, 2U, 5U, 7U, 128U}) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      std::size_t at = 0;
      for (int r = 0; r < ranks; ++r) {
        const auto slice = batch_slice(batch, r, ranks);
        EXPECT_EQ(slice.begin, at);
        EXPECT_LE(slice.size(), (batch + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks));
        at = slice.end;
      }
      EXPECT_EQ(at, batch);
    }
  }
}

TEST(Placement, EveryTableHasOneOwner) {
  const Placement placement(costs({10, 1000, 20, 3, 400, 77}), 4);
  std::vector<std::size_t> seen;
  for (int r = 0; r < 4; ++r) {
    EXPECT_TRUE(std::is_sorted(placement.tables_of(r).begin(), placement.tables_of(r).end()));
    for (const auto t : placement.tables_of(r)) {
      EXPECT_EQ(placement.owner(t), r);
      seen.push_back(t);
    }
  }
  std::sort(seen.begin(), seen.end());
  std::vector<std::size_t> all(6);
  std::iota(all.begin(), all.end(), std::size_t{0});
  EXPECT_EQ(seen, all);
}

TEST(Placement, FewerTablesThanRanksLeavesRanksEmpty) {
  const Placement placement(costs({5, 5, 5}), 8);
  std::size_t owners = 0;
  for (int r = 0; r < 8; ++r) {
    EXPECT_LE(placement.tables_of(r).size(), 1U);
    owners += placement.tables_of(r).size();
  }
  EXPECT_EQ(owners, 3U);
}

TEST(Placement, SpreadsBytesAndLookups) {
  // Two tables hold the bytes, two the lookups: each rank gets one of each kind.
  const Placement placement({{1e9, 1}, {1e9, 1}, {10, 100}, {10, 100}}, 2);
  for (int r = 0; r < 2; ++r) {
    ASSERT_EQ(placement.tables_of(r).size(), 2U);
    EXPECT_LT(placement.tables_of(r)[0], 2U);
    EXPECT_GE(placement.tables_of(r)[1], 2U);
  }
}

TEST(Placement, LargestTableAloneWhenItOutweighsTheRest) {
  const Placement placement({{1000, 10}, {10, 1}, {10, 1}, {10, 1}}, 2);
  EXPECT_EQ(placement.tables_of(placement.owner(0)).size(), 1U);
}

}  // namespace
}  // namespace dlrm
