// SPDX-License-Identifier: BSD-3-Clause
#include "kernelbench/random_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace tutti::kernelbench {
namespace {

/// How often each row came, most often first, as a share of all.
std::vector<double> shares(std::size_t rows, double exponent, std::size_t draws) {
  RandomRows any_row(rows, exponent, 42);
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 0; i < draws; ++i) {
    const std::int64_t row = any_row();
    EXPECT_GE(row, 0);
    EXPECT_LT(row, static_cast<std::int64_t>(rows));
    ++counts[row];
  }
  std::vector<double> found;
  for (const auto& [row, count] : counts) found.push_back(static_cast<double>(count) / static_cast<double>(draws));
  std::sort(found.rbegin(), found.rend());
  return found;
}

TEST(RandomRows, FollowZipfsLaw) {
  constexpr std::size_t rows = 1000;
  for (const double exponent : {0.5, 1.0, 1.05, 2.0}) {
    double all = 0;
    for (std::size_t k = 1; k <= rows; ++k) all += std::pow(static_cast<double>(k), -exponent);
    const auto found = shares(rows, exponent, 1'000'000);
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      const double expected = std::pow(static_cast<double>(k), -exponent) / all;
      EXPECT_NEAR(found[k - 1], expected, 0.04 * expected) << "row " << k << ", exponent " << exponent;
    }
  }
}

TEST(RandomRows, WithoutAnExponentAreAllAlikeOften) {
  const auto found = shares(100, 0, 200'000);
  ASSERT_EQ(found.size(), 100U);
  EXPECT_LT(found.front(), 0.0115);
  EXPECT_GT(found.back(), 0.0085);
}

TEST(RandomRows, OfOneRowAreThatRow) {
  for (const double exponent : {0.0, 1.0, 1.05}) EXPECT_EQ(shares(1, exponent, 100), std::vector<double>{1});
}

}  // namespace
}  // namespace tutti::kernelbench
