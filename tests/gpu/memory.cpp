// SPDX-License-Identifier: BSD-3-Clause
// Memory kinds are told apart, allocations are what they were asked for, pools and flags keep their promises.
#include <chrono>
#include <thread>
#include <tutti/tutti.hpp>

#include "device/flag.hpp"
#include "device/pool.hpp"
#include "gpu/arrays.hpp"
#include "gpu/trial.hpp"

namespace tutti::test::gpu {
namespace {

using namespace std::chrono_literals;
namespace device = detail::device;

class MemoryOnDevice : public OnDevice {};

TEST_F(MemoryOnDevice, KindsAreToldApart) {
  for (const MemorySpace space : {MemorySpace::pinned, MemorySpace::device, MemorySpace::managed}) {
    const commbench::Memory memory(nullptr, space, 4096);
    EXPECT_EQ(memory_kind(memory.data()), commbench::kind_of(space)) << commbench::space_name(space);
    EXPECT_EQ(memory_kind(memory.data() + 4095), commbench::kind_of(space)) << "its last byte";
    const int owner = commbench::is_on_device(space) ? runtime().current_device() : -1;
    EXPECT_EQ(runtime().inspect(memory.data()).device, owner) << commbench::space_name(space);
  }
  const std::vector<std::byte> ordinary(100);
  EXPECT_EQ(memory_kind(ordinary.data()), MemoryKind::host);
  EXPECT_EQ(memory_kind(nullptr), MemoryKind::host);
}

TEST_F(MemoryOnDevice, AllocationsAreZeroedAndOfTheirKind) {
  const Communicator& comm = device_world();
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::device, MemoryKind::managed}) {
    const Allocation part = allocate(comm, 4096, kind);
    EXPECT_EQ(part.kind(), kind);
    EXPECT_EQ(memory_kind(part.data()), kind);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 256, 0U);
    std::vector<std::byte> got(4096, std::byte{1});
    commbench::copy_bytes(got.data(), static_cast<const std::byte*>(part.data()), got.size());
    EXPECT_EQ(got, std::vector<std::byte>(4096));
    EXPECT_NE(allocate(comm, 0, kind).data(), nullptr);
  }
}

TEST_F(MemoryOnDevice, CollectivesWorkInAllocations) {
  const Communicator& comm = device_world();
  const std::size_t count = 100'003;
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::device, MemoryKind::managed}) {
    const Allocation part = allocate(comm, count * sizeof(float), kind);
    const auto mine = filled(count, static_cast<float>(comm.rank() + 1));
    auto* data = static_cast<float*>(part.data());
    commbench::copy_bytes(static_cast<std::byte*>(part.data()), reinterpret_cast<const std::byte*>(mine.data()),
                          count * sizeof(float));
    allreduce(comm, data, count, sum);
    std::vector<float> got(count);
    commbench::copy_bytes(reinterpret_cast<std::byte*>(got.data()), static_cast<const std::byte*>(part.data()),
                          count * sizeof(float));
    EXPECT_EQ(got, filled(count, static_cast<float>(comm.size() * (comm.size() + 1) / 2))) << memory_kind_name(kind);
  }
}

TEST_F(MemoryOnDevice, PoolsGiveTheSameMemoryAgain) {
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::device}) {
    device::Pool& pool = device::Pool::of(kind, runtime().current_device());
    pool.trim();  // of tests before it
    device::Block block = pool.acquire(100'000);
    ASSERT_NE(block.data(), nullptr);
    EXPECT_GE(block.size(), 100'000U);
    EXPECT_EQ(runtime().inspect(block.data()).kind, kind);
    const std::byte* address = block.data();
    block.reset();
    block = pool.acquire(100'000);
    EXPECT_EQ(block.data(), address);
    EXPECT_EQ(pool.acquire(0).data(), nullptr);
    block.reset();
    pool.trim();
  }
}

TEST_F(MemoryOnDevice, AFlagHoldsItsStream) {
  const int current = runtime().current_device();
  if (!runtime().has_stream_flags(current)) GTEST_SKIP() << "skipped: streams of this device cannot wait for a word";
  const DeviceStream stream;
  const DeviceArray<int> from(filled(100, 7));
  const DeviceArray<int> to(filled(100, 0));
  device::Flag flag;
  flag.close(current);
  flag.hold(stream.handle(), 1);
  runtime().copy(to.data(), from.data(), 100 * sizeof(int), stream.handle());
  const auto until = std::chrono::steady_clock::now() + 50ms;
  while (std::chrono::steady_clock::now() < until) ASSERT_FALSE(runtime().is_idle(stream.handle()));
  flag.open();
  stream.wait();
  EXPECT_EQ(to.read(), filled(100, 7));
}

TEST_F(MemoryOnDevice, EveryCallKeepsTheCurrentDevice) {
  const int devices = runtime().device_count();
  if (devices < 2) GTEST_SKIP() << "skipped: one device";
  const DeviceArray<int> array(filled(100, 1));
  const int bound = runtime().current_device();
  device_world();
  runtime().set_current_device((bound + 1) % devices);
  allreduce(device_world(), array.data(), array.size(), sum);
  EXPECT_EQ(runtime().current_device(), (bound + 1) % devices);
  runtime().set_current_device(bound);
}

}  // namespace
}  // namespace tutti::test::gpu
