// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "call/scratch.hpp"

namespace tutti::detail {
namespace {

TEST(ScratchPool, GivesTheSameMemoryAgain) {
  ScratchPool pool;
  auto block = pool.acquire(1000);
  ASSERT_GE(block.bytes, 1000U);
  const std::byte* address = block.data();
  pool.release(std::move(block));
  EXPECT_EQ(pool.acquire(900).data(), address);
}

TEST(ScratchPool, TwoAtATimeAreApart) {
  ScratchPool pool;
  const auto a = pool.acquire(64);
  const auto b = pool.acquire(64);
  EXPECT_NE(a.data(), b.data());
  EXPECT_EQ(pool.acquire(0).data(), nullptr);
}

TEST(ScratchPool, DoesNotWasteALargeBlockOnASmallRequest) {
  ScratchPool pool;
  auto large = pool.acquire(1 << 20);
  const std::byte* address = large.data();
  pool.release(std::move(large));
  EXPECT_NE(pool.acquire(16).data(), address);
}

}  // namespace
}  // namespace tutti::detail
