// SPDX-License-Identifier: BSD-3-Clause
#include "core/apart.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace tutti::test {
namespace {

using detail::allowed_units;
using detail::free_unit;
using detail::move_to_unit;
using Units = std::vector<int>;

TEST(Apart, RanksOnUnitsOfTheirOwnStay) {
  const Units running{4, 0, 7};
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(free_unit(running, rank, Units{0, 1, 4, 5, 7}), std::nullopt);
}

TEST(Apart, ThoseOnTheUnitOfALowerRankMoveToFreeOnes) {
  const Units running{1, 1, 3, 1, 3};
  const Units allowed{0, 1, 2, 3, 4, 5};
  const std::vector<std::optional<int>> expected{std::nullopt, 0, std::nullopt, 2, 4};
  for (int rank = 0; rank < 5; ++rank)
    EXPECT_EQ(free_unit(running, rank, allowed), expected[static_cast<std::size_t>(rank)]) << rank;
}

TEST(Apart, WithoutAFreeUnitNobodyMoves) {
  EXPECT_EQ(free_unit(Units{0, 0}, 1, Units{0}), std::nullopt);
  EXPECT_EQ(free_unit(Units{0, 0, 0}, 2, Units{0, 1}), std::nullopt) << "the one that is free is rank 1's";
  EXPECT_EQ(free_unit(Units{0, 0}, 1, Units{}), std::nullopt);
  EXPECT_EQ(free_unit(Units{-1, -1}, 1, Units{0, 1}), 0) << "a system that does not say where threads run";
}

TEST(Apart, MovesAndKeepsWhatIsAllowed) {
  const Units before = allowed_units();
  ASSERT_FALSE(before.empty());
  for (const int unit : {before.back(), before.front()}) {
    move_to_unit(unit);
    EXPECT_EQ(sched_getcpu(), unit);
    EXPECT_EQ(allowed_units(), before);
  }
  move_to_unit(-1);
  move_to_unit(8000);
  EXPECT_EQ(allowed_units(), before);
}

}  // namespace
}  // namespace tutti::test
