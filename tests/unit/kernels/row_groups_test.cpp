// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/row_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace {

using namespace tutti::kernels;

using Expected = std::map<std::uint32_t, std::vector<std::uint32_t>>;

std::vector<Occurrence> random_occurrences(std::size_t count, std::uint64_t rows, Expected& expected) {
  std::mt19937_64 generator(count + rows);
  std::vector<Occurrence> result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t row = generator() % rows;
    result.push_back((row << 32) | i);
    expected[static_cast<std::uint32_t>(row)].push_back(static_cast<std::uint32_t>(i));
  }
  return result;
}

void compare(std::span<const Occurrence> grouped, const Expected& expected, std::size_t count) {
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

void check(std::size_t count, std::uint64_t rows) {
  SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(rows));
  Expected expected;
  const auto occurrences = random_occurrences(count, rows, expected);
  GroupScratch scratch;
  scratch.input = occurrences;
  compare(group_rows(scratch, rows), expected, count);
  scratch.input = occurrences;
  const auto ascending = group_rows(scratch, rows, GroupOrder::ascending);
  compare(ascending, expected, count);
  EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.end()));
  const auto all = [&](const auto& visit) {
    for (const Occurrence occurrence : occurrences) visit(occurrence, true);
  };
  compare(split_rows(scratch, rows, count, all), expected, count);
  const auto with_others = [&](const auto& visit) {
    for (const Occurrence occurrence : occurrences) {
      visit(occurrence ^ 0x100000000ULL, false);
      visit(occurrence, true);
    }
  };
  compare(split_rows(scratch, rows, 2 * count, with_others), expected, count);
}

TEST(RowGroups, KeepsOrderWithinRows) {
  for (const std::size_t count : {0U, 1U, 2U, 100U, 2048U, 2049U, 20000U}) {
    for (const std::uint64_t rows : {1ULL, 2ULL, 50ULL, 1ULL << 11U, 1000003ULL, 0xffffffffULL}) check(count, rows);
  }
}

}  // namespace
