// SPDX-License-Identifier: BSD-3-Clause
#include "call/allocations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tutti::test {
namespace {

using detail::shm::Allocations;

TEST(SharedAllocations, FindsOwnPartsByEveryAddressInThem) {
  std::vector<std::byte> memory(300);
  Allocations all;
  all.add(7, memory.data(), 100, true);
  all.add(8, memory.data() + 100, 100, false);
  all.add(9, memory.data() + 200, 100, true);
  const auto id_of = [&](std::size_t at) {
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
    if (!all.find(memory.data() + at, id, offset)) return std::uint64_t{0};
    EXPECT_EQ(all.resolve(id, offset), memory.data() + at);
    return id;
  };
  EXPECT_EQ(id_of(0), 7U);
  EXPECT_EQ(id_of(99), 7U);
  EXPECT_EQ(id_of(100), 0U) << "the part of another rank";
  EXPECT_EQ(id_of(199), 0U);
  EXPECT_EQ(id_of(200), 9U);
  EXPECT_EQ(id_of(299), 9U);
  EXPECT_EQ(id_of(300), 0U) << "behind the last part";
  EXPECT_EQ(all.resolve(8, 5), memory.data() + 105);
  EXPECT_EQ(all.resolve(77, 0), nullptr);
  all.remove(std::array<std::uint64_t, 2>{7, 8});
  EXPECT_EQ(id_of(0), 0U);
  EXPECT_EQ(all.resolve(8, 5), nullptr);
  EXPECT_EQ(id_of(200), 9U);
}

}  // namespace
}  // namespace tutti::test
