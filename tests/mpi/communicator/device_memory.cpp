// SPDX-License-Identifier: BSD-3-Clause
// Pinned, device and managed memory from the library, on the stand-ins of CUDA and NCCL.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tutti/tutti.hpp>

#include "core/config.hpp"
#include "device/allocations.hpp"
#include "device/flag.hpp"
#include "device/traffic.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti {
namespace {

using detail::device::Allocations;
using test::machine;

constexpr MemoryKind kinds[] = {MemoryKind::pinned, MemoryKind::device, MemoryKind::managed};

/// Not prepared for device memory.
Communicator world() {
  (void)machine();
  return Communicator::duplicate(MPI_COMM_WORLD);
}

Communicator prepared_world() {
  Communicator comm = world();
  comm.prepare_device();
  return comm;
}

auto calls(const std::string& begin) {
  return std::ranges::count_if(machine().nccl.record(),
                               [&](const std::string& call) { return call.starts_with(begin); });
}

int version() {
  std::string why;
  const detail::nccl::Table* table = detail::nccl::table(why);
  return table == nullptr ? 0 : table->version;
}

template <typename Call>
ErrorCode code_of(const Call& call, const std::string& text) {
  try {
    (void)call();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    return e.code();
  }
  return ErrorCode::success;
}

TEST(DeviceMemory, IsZeroedAlignedAndOfTheKindAskedFor) {
  const standin::HostAccess access;
  for (const Communicator& comm : {world(), prepared_world()})
    for (const MemoryKind kind : kinds)
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, std::size_t{70'000}}) {
        const Allocation part = allocate(comm, bytes + static_cast<std::size_t>(comm.rank()), kind);
        ASSERT_NE(part.data(), nullptr);
        EXPECT_EQ(part.size(), bytes + static_cast<std::size_t>(comm.rank()));
        EXPECT_EQ(part.kind(), kind);
        EXPECT_FALSE(part.is_shared());
        EXPECT_EQ(memory_kind(part.data()), kind);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 256, 0U);
        EXPECT_TRUE(std::ranges::all_of(part.as<char>(), [](char c) { return c == 0; }));
      }
  machine().drain();
}

TEST(DeviceMemory, IsKnownAsLongAsItLives) {
  const Communicator comm = world();
  for (const MemoryKind kind : kinds) {
    const std::size_t live = machine().runtime.live_allocations();
    std::optional<Allocation> part = allocate(comm, 1000, kind);
    const char* data = part->as<char>().data();
    const auto range = Allocations::instance().find(data + 999);
    ASSERT_TRUE(range);
    EXPECT_EQ(range->base, static_cast<const void*>(data));
    EXPECT_EQ(range->kind, kind);
    Allocation moved = std::move(*part);
    part.reset();
    EXPECT_TRUE(Allocations::instance().find(data));
    moved = Allocation();
    EXPECT_FALSE(Allocations::instance().find(data));
    EXPECT_EQ(machine().runtime.live_allocations(), live);
  }
}

TEST(DeviceMemory, IsNcclsWhereTheCommunicatorUsesIt) {
  const Communicator comm = prepared_world();
  machine().nccl.clear_record();
  {
    const Allocation of_device = allocate(comm, 1000, MemoryKind::device);
    const bool has_memory = version() >= detail::nccl::version_of_register;
    EXPECT_EQ(calls("mem_alloc"), has_memory ? 1 : 0);
    const bool has_window = detail::config().nccl_register && version() >= detail::nccl::version_of_windows;
    EXPECT_EQ(calls("comm_window_register"), has_window ? 1 : 0);
    const Allocation pinned = allocate(comm, 1000, MemoryKind::pinned);
    const Allocation managed = allocate(comm, 1000, MemoryKind::managed);
    const Communicator unprepared = world();
    const Allocation plain = allocate(unprepared, 1000, MemoryKind::device);
    EXPECT_EQ(calls("mem_alloc"), has_memory ? 1 : 0);
  }
  EXPECT_EQ(calls("mem_free"), calls("mem_alloc"));
  EXPECT_EQ(calls("comm_window_deregister"), calls("comm_window_register"));
  machine().drain();
}

TEST(DeviceMemory, IsSymmetricOnlyWhereAllRanksHaveAsMuch) {
  const Communicator comm = prepared_world();
  if (comm.size() == 1) GTEST_SKIP() << "for several ranks";
  machine().nccl.clear_record();
  const Allocation part = allocate(comm, 10'000 * (1 + static_cast<std::size_t>(comm.rank())), MemoryKind::device);
  EXPECT_EQ(calls("comm_window_register"), 0);
}

TEST(DeviceMemory, IsUsedByCollectives) {
  const standin::HostAccess access;
  const Communicator comm = prepared_world();
  const Allocation part = allocate(comm, 1000 * sizeof(float), MemoryKind::device);
  const auto data = part.as<float>();
  std::ranges::fill(data, static_cast<float>(comm.rank() + 1));
  allreduce(comm, Buffer(data.data(), data.size()), sum);
  EXPECT_EQ(data[0], static_cast<float>(comm.size() * (comm.size() + 1)) / 2);
  EXPECT_EQ(data[999], data[0]);
  machine().drain();
}

/// NCCL connects at its first collective on windows, whatever was launched before, and waits for the peers.
TEST(DeviceMemory, FirstCallsOnWindowsWaitForNobody) {
  const standin::HostAccess access;
  const Communicator comm = prepared_world();
  const std::size_t bytes = 100 * static_cast<std::size_t>(comm.size()) * sizeof(float);
  const test::DeviceMemory outside(bytes);
  alltoall(comm, in_place, test::device_buffer(outside, DatatypeKind::float32));
  const Allocation part = allocate(comm, bytes, MemoryKind::device);
  const auto data = part.as<float>();
  std::ranges::fill(data, static_cast<float>(comm.rank() + 1));
  if (comm.rank() != 0) test::meet();
  Request moves = ialltoall(comm, in_place, Buffer(data.data(), data.size()));
  if (comm.rank() == 0) test::meet();
  moves.wait();
  for (std::size_t r = 0; 100 * r < data.size(); ++r) EXPECT_EQ(data[100 * r], static_cast<float>(r + 1));
  machine().drain();
}

TEST(DeviceMemory, WindowsLieAtTheSamePlacesOnAllRanks) {
  const standin::HostAccess access;
  const Communicator comm = prepared_world();
  std::optional<Allocation> first = allocate(comm, 1000, MemoryKind::device);
  if (comm.rank() == 0) first.reset();  // freeing is local, at any time
  const Allocation second = allocate(comm, 1000 * sizeof(float), MemoryKind::device);
  const auto data = second.as<float>();
  std::ranges::fill(data, 1.0F);
  allreduce(comm, Buffer(data.data(), data.size()), sum);
  EXPECT_EQ(data[0], static_cast<float>(comm.size()));
  machine().drain();
}

TEST(DeviceMemory, NothingIsTakenOrReturnedWhileNcclWorks) {
  const standin::HostAccess access;
  const Communicator comm = prepared_world();
  std::optional<Allocation> before = allocate(comm, 1000, MemoryKind::device);
  Allocation during;
  {
    int looks = 0;
    machine().runtime.enqueue(machine().stream, "nccl work", [&looks] { return ++looks > 30; });
    detail::device::Traffic::of(0).note_launch(machine().stream);
    before.reset();
    during = allocate(comm, 1000, MemoryKind::device);
    EXPECT_GT(looks, 30);
  }
  EXPECT_TRUE(std::ranges::all_of(during.as<char>(), [](char c) { return c == 0; }));
  machine().drain();
}

/// As with cudaFree, which waits for the device; ncclMemFree does not.
TEST(DeviceMemory, IsReturnedAfterTheProgramsKernels) {
  const standin::HostAccess access;
  const Communicator comm = prepared_world();
  std::optional<Allocation> part = allocate(comm, 1000, MemoryKind::device);
  char* data = part->as<char>().data();
  char read = 1;
  *data = 7;
  machine().runtime.run_host(machine().stream, [data, &read] { read = *data; });
  part.reset();
  machine().drain();
  EXPECT_EQ(read, 7);
}

TEST(DeviceMemory, IsNotReturnedWhileAStreamIsCaptured) {
  const Communicator comm = prepared_world();
  const std::size_t live = machine().runtime.live_allocations();
  std::optional<Allocation> part = allocate(comm, 1000, MemoryKind::device);
  machine().runtime.begin_capture(machine().stream);
  part.reset();
  EXPECT_EQ(machine().runtime.live_allocations(), live + 1) << "the device cannot be waited for";
  machine().runtime.destroy_graph(machine().runtime.end_capture(machine().stream));
  Allocations::instance().sweep();
  EXPECT_EQ(machine().runtime.live_allocations(), live);
  machine().drain();
}

TEST(DeviceMemory, OutlivesItsCommunicator) {
  const standin::HostAccess access;
  std::optional<Communicator> comm = prepared_world();
  const std::size_t live = machine().runtime.live_allocations();
  std::optional<Allocation> part = allocate(*comm, 5000, MemoryKind::device);
  comm.reset();
  part->as<char>().back() = 1;
  part.reset();
  EXPECT_LE(machine().runtime.live_allocations(), live);
  machine().drain();
}

TEST(DeviceMemory, ErrorsAreTheSameOnAllRanks) {
  const Communicator comm = world();
  const int last = comm.size() - 1;
  const bool is_last = comm.rank() == last;
  const std::string on_last = "on rank " + std::to_string(last);
  const std::size_t live = machine().runtime.live_allocations();
  for (const MemoryKind kind : kinds) {
    const auto some = [&] { return allocate(comm, 1000, kind); };
    if (is_last) machine().runtime.fail_next("allocate");
    EXPECT_EQ(code_of(some, on_last), ErrorCode::out_of_memory);
    if (kind != MemoryKind::pinned) {
      if (is_last) machine().runtime.fail_next("fill_zero");
      EXPECT_EQ(code_of(some, on_last), ErrorCode::cuda);
    }
    EXPECT_EQ(machine().runtime.live_allocations(), live) << "what the other ranks had got";
    EXPECT_EQ(some().size(), 1000U) << "the communicator is as good as before";
  }
  if (comm.size() > 1) {
    EXPECT_EQ(code_of([&] { return allocate(comm, 8, is_last ? MemoryKind::managed : MemoryKind::device); }, on_last),
              ErrorCode::mismatch);
  }
  machine().drain();
}

TEST(DeviceMemory, TheCurrentDeviceIsAsBefore) {
  const Communicator comm = prepared_world();
  const int device = machine().runtime.current_device();
  const Allocation part = allocate(comm, 100, MemoryKind::device);
  EXPECT_EQ(machine().runtime.current_device(), device);
}

}  // namespace
}  // namespace tutti
