// SPDX-License-Identifier: BSD-3-Clause
#include "device/pool.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <tutti/error.hpp>
#include <utility>

#include "device/flag.hpp"
#include "device/traffic.hpp"
#include "support/standin/device_arena.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::detail::device {
namespace {

class Pools : public ::testing::Test {
 protected:
  Pools() { runtime.install(); }
  Pool& pool(MemoryKind kind = MemoryKind::device, int device = 0) { return Pool::of(kind, device); }

  standin::Runtime runtime{2};
};

TEST_F(Pools, ABlockIsLargeEnoughAlignedAndOfItsKind) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned})
    for (const std::size_t bytes : {1U, 256U, 257U, 1000U, 4097U, 1U << 20U, (1U << 20U) + 1}) {
      const Block block = pool(kind, 1).acquire(bytes);
      ASSERT_NE(block.data(), nullptr);
      EXPECT_GE(block.size(), bytes);
      EXPECT_LE(block.size(), bytes + bytes / 4 + 256);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 256, 0U);
      EXPECT_EQ(runtime.inspect(block.data() + bytes - 1).kind, kind);
      EXPECT_EQ(runtime.inspect(block.data()).device, kind == MemoryKind::device ? 1 : -1);
    }
  EXPECT_EQ(runtime.current_device(), 0);
}

TEST_F(Pools, NothingIsEmpty) {
  const Block block = pool().acquire(0);
  EXPECT_EQ(block.data(), nullptr);
  EXPECT_EQ(block.size(), 0U);
  EXPECT_EQ(runtime.live_allocations(), 0U);
}

TEST_F(Pools, BlocksAreUsedAgain) {
  std::byte* first = nullptr;
  {
    Block block = pool().acquire(1000);
    first = block.data();
    Block other = std::move(block);
    EXPECT_EQ(block.data(), nullptr);  // NOLINT(bugprone-use-after-move)
    block = std::move(other);
    EXPECT_EQ(block.data(), first);
  }
  const Block again = pool().acquire(990);
  EXPECT_EQ(again.data(), first);
  const Block both = pool().acquire(990);
  EXPECT_NE(both.data(), first);
  EXPECT_EQ(runtime.live_allocations(), 2U);
}

TEST_F(Pools, ASmallCallDoesNotTakeALargeBlock) {
  std::byte* large = nullptr;
  {
    const Block block = pool().acquire(1U << 20U);
    large = block.data();
  }
  EXPECT_NE(pool().acquire(512).data(), large);
}

TEST_F(Pools, KindsAndDevicesAreApart) {
  const std::set<Pool*> all = {&pool(MemoryKind::device, 0), &pool(MemoryKind::device, 1), &pool(MemoryKind::pinned, 0),
                               &pool(MemoryKind::pinned, 1)};
  EXPECT_EQ(all.size(), 4U);
  EXPECT_EQ(&pool(), &pool());
}

TEST_F(Pools, WhatIsReservedNeedsNoAllocation) {
  pool().reserve(4096, 3);
  EXPECT_EQ(runtime.live_allocations(), 3U);
  const Block a = pool().acquire(4096);
  const Block b = pool().acquire(4096);
  const Block c = pool().acquire(4096);
  EXPECT_EQ(runtime.live_allocations(), 3U);
}

TEST_F(Pools, TrimGivesBackWhatIsUnused) {
  const Block used = pool().acquire(512);
  pool().reserve(4096, 2);
  EXPECT_EQ(pool().held_bytes(), 512U + 2 * 4096U);
  pool().trim();
  EXPECT_EQ(pool().held_bytes(), 512U);
  EXPECT_EQ(runtime.live_allocations(), 1U);
}

TEST_F(Pools, GrowthWaitsUntilNoNcclWorkIsInFlight) {
  StreamHandle stream = runtime.create_stream();
  int looks = 0;
  runtime.enqueue(stream, "nccl all reduce", [&] { return ++looks > 20; });
  Traffic::of(0).note_launch(stream);
  const Block block = pool().acquire(4096);
  EXPECT_GT(looks, 20);
  EXPECT_EQ(runtime.forbidden_allocations(), 0U);
}

TEST_F(Pools, WhileNcclWorksBlocksAreUsedAgainWithoutWaiting) {
  pool().reserve(4096, 1);
  pool().reserve(1U << 20U, 1);
  StreamHandle stream = runtime.create_stream();
  runtime.enqueue(stream, "nccl all reduce", [] { return false; });
  Traffic::of(0).note_launch(stream);
  const Block block = pool().acquire(4096);
  const Block far_too_large = pool().acquire(4096);
  EXPECT_EQ(far_too_large.size(), 1U << 20U);
  EXPECT_EQ(runtime.forbidden_allocations(), 0U);
  runtime.drop_all();
}

TEST_F(Pools, WhileNcclWorksNothingIsTrimmed) {
  pool().reserve(4096, 1);
  StreamHandle stream = runtime.create_stream();
  runtime.enqueue(stream, "nccl all reduce", [] { return false; });
  Traffic::of(0).note_launch(stream);
  pool().trim();
  EXPECT_EQ(runtime.live_allocations(), 1U);
  runtime.drop_all();
  pool().trim();
  EXPECT_EQ(runtime.live_allocations(), 0U);
}

TEST_F(Pools, WhileAFlagIsClosedNothingIsTrimmed) {
  pool().reserve(4096, 1);
  Flag flag;
  flag.close(0);
  flag.hold(runtime.create_stream(), 1);
  pool().trim();
  EXPECT_EQ(pool().held_bytes(), 4096U);
  flag.open();
  pool().trim();
  EXPECT_EQ(pool().held_bytes(), 0U);
}

/// Growth might wait for a stream that waits for the host.
TEST_F(Pools, WhileAFlagIsClosedALargeBlockIsTakenBeforeMore) {
  Pool& pool = Pool::of(MemoryKind::pinned, 0);
  pool.reserve(100'000, 1);
  pool.reserve(sizeof(std::uint32_t), 1);
  const std::size_t held = pool.held_bytes();
  Flag flag;
  flag.close(0);
  flag.hold(nullptr, 1);
  const Block block = pool.acquire(1000);
  EXPECT_GE(block.size(), 100'000U);
  EXPECT_EQ(pool.held_bytes(), held);
}

TEST_F(Pools, AFullDeviceGetsItsUnusedBlocksBackFirst) {
  runtime.set_memory(10'000);
  pool().reserve(4096, 2);
  const Block block = pool().acquire(8192);
  EXPECT_EQ(block.size(), 8192U);
  EXPECT_EQ(runtime.live_allocations(), 1U);
  try {
    (void)pool().acquire(4096);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory);
  }
}

TEST_F(Pools, OtherFailuresAreNotTakenForAFullDevice) {
  runtime.set_current_device(1);
  runtime.fail_next("set_current_device");
  try {
    (void)pool().acquire(4096);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::cuda);
  }
}

TEST_F(Pools, ThreadsShareAPool) {
  const auto work = [&] {
    const standin::HostAccess access;
    for (int i = 0; i < 500; ++i) {
      const Block block = pool().acquire(static_cast<std::size_t>(1 + i % 7) * 300);
      *block.data() = std::byte{1};
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_LE(runtime.live_allocations(), 14U);
}

TEST(PoolsOfAnotherRuntime, KnowNothingOfTheFormers) {
  Block left;
  Event event;
  {
    standin::Runtime first;
    first.install();
    left = Pool::of(MemoryKind::device, 0).acquire(1000);
    event.record(0, nullptr);
  }
  EXPECT_THROW((void)Pool::of(MemoryKind::device, 0).acquire(1000), Error);
  standin::Runtime second;
  second.install();
  EXPECT_EQ(Pool::of(MemoryKind::device, 0).held_bytes(), 0U);
  left.reset();
  event.reset();
  const Block block = Pool::of(MemoryKind::device, 0).acquire(1000);
  EXPECT_EQ(second.inspect(block.data()).kind, MemoryKind::device);
}

}  // namespace
}  // namespace tutti::detail::device
