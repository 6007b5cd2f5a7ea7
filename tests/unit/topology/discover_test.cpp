// SPDX-License-Identifier: BSD-3-Clause
#include "topology/discover.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <vector>

#include "core/process_watch.hpp"
#include "topology/place.hpp"

namespace {

using namespace tutti::detail;

UnitUse node(std::uint64_t kernel, int ranks, std::initializer_list<unsigned> units) {
  UnitUse use{kernel, ranks, {}};
  for (const unsigned unit : units) use.units[unit / 64] |= std::uint64_t{1} << (unit % 64);
  return use;
}

bool is_oversubscribed(const std::vector<UnitUse>& nodes) { return tutti::detail::is_oversubscribed(nodes); }

TEST(Discover, ANodeWithMoreRanksThanUnitsIsOversubscribed) {
  EXPECT_FALSE(is_oversubscribed({node(1, 2, {0, 1})}));
  EXPECT_TRUE(is_oversubscribed({node(1, 3, {0, 1})}));
  EXPECT_TRUE(is_oversubscribed({node(1, 2, {0, 1}), node(2, 2, {70})}));
}

TEST(Discover, UnknownUnitsCountAsOne) {
  EXPECT_FALSE(is_oversubscribed({node(0, 1, {})}));
  EXPECT_TRUE(is_oversubscribed({node(0, 2, {})}));
}

TEST(Discover, NodesOfOneKernelShareTheirUnits) {
  EXPECT_TRUE(is_oversubscribed({node(1, 2, {0, 1}), node(1, 2, {0, 1})}));
  EXPECT_FALSE(is_oversubscribed({node(1, 1, {0, 1}), node(1, 1, {0, 1})}));
  EXPECT_TRUE(is_oversubscribed({node(1, 1, {0}), node(2, 1, {0}), node(1, 1, {0})}));
}

TEST(Discover, NodesOfOneKernelWithTheirOwnUnitsAreNot) {
  EXPECT_FALSE(is_oversubscribed({node(1, 2, {0, 1}), node(1, 2, {2, 130})}));
}

TEST(Discover, NodesOfSeveralOrUnknownKernelsShareNothing) {
  EXPECT_FALSE(is_oversubscribed({node(1, 2, {0, 1}), node(2, 2, {0, 1})}));
  EXPECT_FALSE(is_oversubscribed({node(0, 2, {0, 1}), node(0, 2, {0, 1})}));
}

TEST(Discover, TheKernelKeepsItsNumber) {
  EXPECT_EQ(kernel_number() != 0, std::filesystem::exists("/proc/sys/kernel/random/boot_id"));
  EXPECT_EQ(kernel_number(), kernel_number());
  EXPECT_EQ(local_place().kernel, kernel_number());
}

}  // namespace
