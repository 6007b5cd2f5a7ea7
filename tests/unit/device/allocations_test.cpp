// SPDX-License-Identifier: BSD-3-Clause
#include "device/allocations.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "device/flag.hpp"
#include "device/traffic.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::detail::device {
namespace {

class Registry : public ::testing::Test {
 protected:
  Registry() { runtime.install(); }

  std::uint64_t add(std::size_t bytes, const std::string& name = "release") {
    data = static_cast<std::byte*>(runtime.allocate(MemoryKind::device, bytes));
    return all.add(data, bytes, MemoryKind::device, 0, [this, name, at = data] {
      runtime.release(MemoryKind::device, at);
      calls.push_back(name);
    });
  }

  standin::Runtime runtime;
  Allocations& all = Allocations::instance();
  std::byte* data = nullptr;
  std::vector<std::string> calls;
};

TEST_F(Registry, FindsWhatAnAddressLiesIn) {
  EXPECT_FALSE(all.find(&runtime));
  const std::uint64_t id = add(100);
  for (const std::size_t offset : {0U, 50U, 99U}) {
    const auto range = all.find(data + offset);
    ASSERT_TRUE(range);
    EXPECT_EQ(range->base, data);
    EXPECT_EQ(range->bytes, 100U);
    EXPECT_EQ(range->id, id);
    EXPECT_EQ(range->kind, MemoryKind::device);
    EXPECT_EQ(range->device, 0);
  }
  EXPECT_FALSE(all.find(data + 100));
  EXPECT_FALSE(all.find(data - 1));
  EXPECT_FALSE(all.find(nullptr));
  all.retire(id);
  EXPECT_FALSE(all.find(data));
  EXPECT_EQ(calls, std::vector<std::string>{"release"});
  EXPECT_EQ(runtime.live_allocations(), 0U);
}

TEST_F(Registry, GivesNoNumberTwice) {
  const std::uint64_t first = add(8);
  all.retire(first);
  const std::uint64_t second = add(8);
  EXPECT_NE(first, second);
  all.retire(first);
  EXPECT_TRUE(all.find(data)) << "a number that is gone retires nothing";
  all.retire(second);
}

TEST_F(Registry, ReleasesNothingWhileNcclWorks) {
  const std::uint64_t id = add(8);
  bool goes = false;
  runtime.enqueue(nullptr, "nccl", [&] { return goes; });
  Traffic::of(0).note_launch(nullptr);
  all.retire(id);
  EXPECT_FALSE(all.find(data)) << "it is forgotten at once";
  all.sweep();
  EXPECT_EQ(runtime.live_allocations(), 1U);
  goes = true;
  all.sweep();
  EXPECT_EQ(runtime.live_allocations(), 0U);
  EXPECT_EQ(runtime.forbidden_allocations(), 0U);
}

TEST_F(Registry, ReleasesNothingWhileAStreamWaitsForTheHost) {
  const std::uint64_t id = add(8);
  Flag flag;
  flag.close(0);
  flag.hold(nullptr, 1);
  all.retire(id);
  EXPECT_TRUE(calls.empty());
  flag.open();
  all.sweep();
  EXPECT_EQ(calls.size(), 1U);
}

TEST_F(Registry, WatchersAreCalledBeforeTheRelease) {
  const std::uint64_t id = add(8);
  const std::uint64_t other = add(8);
  EXPECT_TRUE(all.watch(id, this, [&] { calls.push_back("watcher"); }));
  EXPECT_TRUE(all.watch(id, &runtime, [&] { calls.push_back("forgotten"); }));
  all.unwatch(&runtime);
  all.retire(id);
  EXPECT_EQ(calls, (std::vector<std::string>{"watcher", "release"}));
  EXPECT_FALSE(all.watch(id, this, [] {}));
  all.retire(other);
  EXPECT_EQ(calls.size(), 3U);
}

TEST_F(Registry, AWatcherMayEndBetweenRetirementAndRelease) {
  const std::uint64_t id = add(8);
  EXPECT_TRUE(all.watch(id, this, [&] { calls.push_back("watcher"); }));
  Flag flag;
  flag.close(0);
  flag.hold(nullptr, 1);
  all.retire(id);
  all.unwatch(this);
  flag.open();
  all.sweep();
  EXPECT_EQ(calls, std::vector<std::string>{"release"});
}

TEST_F(Registry, ThreadsAddAndRetire) {
  const auto work = [this] {
    for (int i = 0; i < 200; ++i) {
      auto* at = static_cast<std::byte*>(runtime.allocate(MemoryKind::device, 64));
      const std::uint64_t id =
          all.add(at, 64, MemoryKind::device, 0, [this, at] { runtime.release(MemoryKind::device, at); });
      ASSERT_TRUE(all.find(at + 63));
      all.retire(id);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(runtime.live_allocations(), 0U);
}

TEST(RegistryOfAnotherRuntime, ReleasesNothingOfTheFormers) {
  Allocations& all = Allocations::instance();
  std::uint64_t id = 0;
  bool is_released = false;
  std::byte memory[8]{};
  {
    standin::Runtime former;
    former.install();
    id = all.add(memory, 8, MemoryKind::device, 0, [&] { is_released = true; });
  }
  all.retire(id);
  EXPECT_FALSE(is_released);
  EXPECT_FALSE(all.find(memory));
}

}  // namespace
}  // namespace tutti::detail::device
