// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/butterfly.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tutti::schedules {
namespace {

class Pairs : public testing::TestWithParam<Distances> {};

TEST_P(Pairs, HaveNumbersThatTellThemApartInTheDigitOfTheirStep) {
  for (int size = 1; size <= 1024; size *= 2) {
    const Butterfly butterfly(GetParam(), size);
    for (int place = 0; place < size; ++place) {
      const int number = butterfly.number(place);
      EXPECT_EQ(butterfly.place_of(number), place);
      for (int step = 0; step < butterfly.steps(); ++step) {
        const int partner = butterfly.partner(place, step);
        EXPECT_EQ(butterfly.partner(partner, step), place);
        EXPECT_EQ((number ^ butterfly.number(partner)) & ((2 << step) - 1), 1 << step) << place << ' ' << step;
        EXPECT_NE(butterfly.is_lower(place, step), butterfly.is_lower(partner, step));
      }
    }
  }
}

TEST_P(Pairs, LeadMessagesAlongTheFirstSteps) {
  const int size = 64;
  const Butterfly butterfly(GetParam(), size);
  for (int place = 0; place < size; ++place)
    for (int steps = 0; steps <= butterfly.steps(); ++steps) {
      std::set<int> reached{place};
      for (int step = steps - 1; step >= 0; --step)
        for (const int from : std::set(reached)) reached.insert(butterfly.partner(from, step));
      EXPECT_EQ(reached.size(), std::size_t{1} << steps);
      for (int to = 0; to < size; ++to) EXPECT_EQ(butterfly.leads(place, to, steps), reached.contains(to)) << steps;
    }
}

INSTANTIATE_TEST_SUITE_P(Both, Pairs, testing::Values(Distances::doubling, Distances::bine));

TEST(Bine, DistancesAreSumsOfPowersOfMinusTwo) {
  const int offsets[] = {1, -1, 3, -5, 11, -21, 43};
  int sum = 0;
  int power = 1;
  for (int step = 0; step < 31; ++step, power *= -2) {
    sum += power;
    EXPECT_EQ(bine_offset(step), sum);
    if (step < 7) {
      EXPECT_EQ(bine_offset(step), offsets[step]);
    }
    if (step < 30) {
      EXPECT_LE(3 * std::int64_t{bine_distance(step)}, 2 * (std::int64_t{1} << step) + 1);
    }
  }
}

TEST(Bine, PartnersOfAnyEvenNumberAreMutual) {
  for (int size = 2; size <= 130; size += 2)
    for (int place = 0; place < size; ++place)
      for (int step = 0; step < ceil_log2(size); ++step)
        EXPECT_EQ(bine_partner(bine_partner(place, step, size), step, size), place);
}

/// Bytes that leave groups of adjacent places, if those of the nearest partners are 2^(steps - 1) and halve from step
/// to step.
std::int64_t bytes_between_groups(Distances distances, int size, int group) {
  const Butterfly butterfly(distances, size);
  std::int64_t bytes = 0;
  for (int step = 0; step < butterfly.steps(); ++step)
    for (int place = 0; place < size; ++place)
      if (place / group != butterfly.partner(place, step) / group) bytes += size >> (step + 1);
  return bytes;
}

// Groups of a power of two are another matter: at doubling distances the near partners never leave them.
TEST(Bine, LeavesOtherGroupsThanPowersOfTwoLess) {
  for (const int group : {50, 100, 180, 366}) {
    const auto bine = static_cast<double>(bytes_between_groups(Distances::bine, 1024, group));
    EXPECT_LT(bine, 0.95 * static_cast<double>(bytes_between_groups(Distances::doubling, 1024, group))) << group;
  }
}

}  // namespace
}  // namespace tutti::schedules
