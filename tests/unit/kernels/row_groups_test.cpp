// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/row_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace {

using namespace tutti::kernels;

void check(std::size_t count, std::uint64_t rows) {
  GroupScratch scratch;
  std::mt19937_64 generator(count + rows);
  std::map<std::uint32_t, std::vector<std::uint32_t>> expected;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t row = generator() % rows;
    scratch.input.push_back((row << 32) | i);
    expected[static_cast<std::uint32_t>(row)].push_back(static_cast<std::uint32_t>(i));
  }
  const auto grouped = group_rows(scratch, rows);
  ASSERT_EQ(grouped.size(), count);
  std::set<std::uint32_t> seen;
  for (std::size_t i = 0; i < count;) {
    const std::uint32_t row = row_of(grouped[i]);
    ASSERT_TRUE(seen.insert(row).second) << "row " << row << " comes in two groups";
    for (const std::uint32_t payload : expected.at(row)) {
      ASSERT_EQ(row_of(grouped[i]), row);
      ASSERT_EQ(payload_of(grouped[i++]), payload);
    }
  }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST(RowGroups, KeepsOrderWithinRows) {
  for (const std::size_t count : {0U, 1U, 2U, 100U, 2048U, 2049U, 20000U}) {
    for (const std::uint64_t rows : {1ULL, 2ULL, 50ULL, 1ULL << 11U, 1000003ULL, 0xffffffffULL}) check(count, rows);
  }
}

}  // namespace
