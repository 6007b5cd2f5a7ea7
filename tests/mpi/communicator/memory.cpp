// SPDX-License-Identifier: BSD-3-Clause
// Memory from the library: what it is like, and every order in which it and its communicator end.
#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/allocations.hpp"
#include "device/runtime.hpp"

namespace tutti {
namespace {

using detail::shm::Allocations;

Communicator world() { return Communicator::duplicate(MPI_COMM_WORLD); }

bool is_switched_off() {
  const char* value = std::getenv("TUTTI_SHM");
  return value != nullptr && std::strcmp(value, "0") == 0;
}

/// Whether ranks of this rank's node share memory.
bool shares(const Communicator& comm) {
  const Topology& machine = comm.topology();
  const auto node = static_cast<std::size_t>(machine.places[static_cast<std::size_t>(comm.rank())].node);
  return machine.ranks_per_node[node] > 1 && !is_switched_off();
}

/// The line of /proc/self/maps that an address is in.
std::string mapping_of(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::istringstream words(line);
    words >> std::hex >> begin >> dash >> end;
    if (at >= begin && at < end) return line;
  }
  return {};
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

TEST(Memory, IsZeroedAlignedAndOfTheSizeAskedFor) {
  const Communicator comm = world();
  const auto rank = static_cast<std::size_t>(comm.rank());
  for (const std::size_t bytes : {rank, 8 * rank + 1, std::size_t{4096}, (std::size_t{3} << 20U) + 100 * rank}) {
    const Allocation part = allocate(comm, bytes);
    ASSERT_NE(part.data(), nullptr);
    EXPECT_EQ(part.size(), bytes);
    EXPECT_EQ(part.kind(), MemoryKind::host);
    EXPECT_EQ(part.is_shared(), shares(comm));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 4096, 0U);
    const auto all = part.as<char>();
    EXPECT_EQ(all.size(), bytes);
    EXPECT_EQ(part.as<double>().size(), bytes / sizeof(double));
    EXPECT_TRUE(std::ranges::all_of(all, [](char c) { return c == 0; }));
    std::ranges::fill(all, 'x');
  }
}

TEST(Memory, HasNoNameLeft) {
  const Communicator comm = world();
  const Allocation part = allocate(comm, 100);
  barrier(comm);  // the rank that made the name removes it when all have mapped it
  const std::string mapping = mapping_of(part.data());
  ASSERT_FALSE(mapping.empty());
  if (part.is_shared()) {
    EXPECT_NE(mapping.find("(deleted)"), std::string::npos) << mapping;
  }
}

TEST(Memory, IsMappedByAllRanksOfANode) {
  const Communicator comm = world();
  const Communicator node = comm.split_by_node();
  const Allocation part = allocate(comm, 10'000 + static_cast<std::size_t>(comm.rank()));
  std::ranges::fill(part.as<char>(), static_cast<char>('a' + comm.rank()));
  struct Seen {
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
    int rank = 0;
  };
  Seen mine{0, 0, comm.rank()};
  EXPECT_EQ(Allocations::instance().find(part.as<char>().data() + 9'000, mine.id, mine.offset), shares(comm));
  std::vector<Seen> all(static_cast<std::size_t>(node.size()));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node.mpi_handle());
  if (!shares(comm)) return;
  for (const Seen& seen : all) {
    EXPECT_EQ(seen.offset, 9'000U);
    const std::byte* there = Allocations::instance().resolve(seen.id, seen.offset);
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(static_cast<char>(*there), static_cast<char>('a' + seen.rank));
  }
  barrier(node);
}

TEST(Memory, PartsAreFoundByTheirIdAsLongAsTheyLive) {
  const Communicator comm = world();
  std::uint64_t id = 0;
  std::uint64_t offset = 0;
  std::optional<Allocation> first = allocate(comm, 64);
  const Allocation second = allocate(comm, 64);
  if (!first->is_shared()) GTEST_SKIP() << "no shared memory here";
  ASSERT_TRUE(Allocations::instance().find(first->data(), id, offset));
  const std::uint64_t id_of_first = id;
  ASSERT_TRUE(Allocations::instance().find(second.data(), id, offset));
  EXPECT_NE(id, id_of_first);
  first.reset();
  EXPECT_EQ(Allocations::instance().resolve(id_of_first, 0), nullptr);
  EXPECT_EQ(Allocations::instance().resolve(id, 0), second.data());
}

TEST(Memory, IsNotUnmappedWhileAnotherThreadUsesIt) {
  std::array<std::byte, 64> memory{};
  constexpr std::uint64_t id = 7;
  Allocations& all = Allocations::instance();
  all.add(id, memory.data(), memory.size(), false);
  std::atomic<bool> removed{false};
  std::optional<Allocations::Use> use = all.use();
  std::thread remover([&] {
    all.remove(std::array{id});
    removed = true;
  });
  while (all.resolve(id, 0) != nullptr) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(removed);
  use.reset();
  remover.join();
  EXPECT_TRUE(removed);
}

TEST(Memory, EndsWhereThePartEnds) {
  std::array<std::byte, 64> memory{};
  constexpr std::uint64_t id = 8;
  Allocations& all = Allocations::instance();
  all.add(id, memory.data() + 16, 32, true);
  std::uint64_t found = 0;
  std::uint64_t offset = 0;
  EXPECT_FALSE(all.find(memory.data() + 15, found, offset));
  EXPECT_FALSE(all.find(memory.data() + 48, found, offset));
  EXPECT_EQ(found, 0U);
  EXPECT_TRUE(all.find(memory.data() + 47, found, offset));
  EXPECT_EQ(found, id);
  EXPECT_EQ(offset, 31U);
  all.remove(std::array{id});
  EXPECT_FALSE(all.find(memory.data() + 16, found, offset));
}

TEST(Memory, MovesWithItsObject) {
  const Communicator comm = world();
  Allocation a = allocate(comm, 24);
  void* data = a.data();
  Allocation b = std::move(a);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): what is left is an empty one
  EXPECT_EQ(a.size(), 0U);
  EXPECT_FALSE(a.is_shared());
  b = allocate(comm, 48);
  EXPECT_EQ(b.size(), 48U);
  b = Allocation();
  EXPECT_EQ(b.as<int>().size(), 0U);
}

TEST(Memory, ErrorsAreTheSameOnAllRanks) {
  const Communicator comm = world();
  const int last = comm.size() - 1;
  const bool is_last = comm.rank() == last;
  const auto with = [&](std::size_t bytes, MemoryKind kind) {
    return [&comm, bytes, kind] { return allocate(comm, bytes, kind); };
  };
  // What a machine with a GPU gives is tested on the stand-ins, in device_memory.cpp.
  detail::device::Runtime* runtime = detail::device::runtime();
  const ErrorCode without_device = runtime == nullptr ? ErrorCode::not_built : ErrorCode::cuda;
  if (runtime == nullptr || runtime->device_count() == 0) {
    EXPECT_EQ(code_of(with(8, MemoryKind::device), "device memory on rank 0"), without_device);
    EXPECT_EQ(code_of(with(8, MemoryKind::pinned), "pinned memory on rank 0"), without_device);
  }
  EXPECT_EQ(code_of(with(8, MemoryKind::detect), "argument kind"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(with(is_last ? ~std::size_t{0} : 8, MemoryKind::host), "on rank " + std::to_string(last)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(with(is_last ? std::size_t{1} << 46U : 8, MemoryKind::host), "of rank " + std::to_string(last)),
            ErrorCode::out_of_memory);
  if (comm.size() > 1) {
    EXPECT_EQ(code_of(with(8, is_last ? MemoryKind::managed : MemoryKind::host), "on rank " + std::to_string(last)),
              ErrorCode::mismatch);
  }
  EXPECT_EQ(code_of([] { return allocate(Communicator(), 8); }, "argument comm"), ErrorCode::invalid_communicator);
  EXPECT_EQ(allocate(comm, 8).size(), 8U) << "the communicator is as good as before";
}

TEST(Memory, MoreThanSharedMemoryHoldsIsOrdinary) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) GTEST_SKIP() << "no /dev/shm";
  const Communicator comm = world();
  if (comm.size() < 2 || comm.topology().nodes > 1) GTEST_SKIP() << "for several ranks of one node";
  const std::size_t bytes = room.f_blocks * room.f_frsize / static_cast<std::size_t>(comm.size()) + (1U << 20U);
  const Allocation part = allocate(comm, bytes);
  EXPECT_FALSE(part.is_shared());
  const auto ends = part.as<char>();
  ends.front() = 1;
  ends.back() = 2;
  const auto some = part.as<std::int64_t>().subspan(0, 100'000);
  std::ranges::fill(some, 1);
  allreduce(comm, some, sum);
  EXPECT_EQ(some[99'999], comm.size());
}

/// A sum over single copies of 200,000 numbers in memory of any kind.
void expect_right_sum(const Communicator& comm, std::span<double> data) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i % 1000) * (comm.rank() + 1);
  allreduce(comm, data, sum);
  const double ranks = comm.size() * (comm.size() + 1) / 2;
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(data[i], static_cast<double>(i % 1000) * ranks) << "element " << i << " on rank " << comm.rank();
}

constexpr std::size_t many = 200'000 * sizeof(double);

TEST(Lifetime, SharedByCommunicatorsThatComeAndGo) {
  std::optional<Communicator> first = world();
  const Allocation part = allocate(*first, many);
  first.reset();
  const Communicator second = world();
  expect_right_sum(second, part.as<double>());
  const Communicator half = second.split(second.rank() % 2, -second.rank());
  expect_right_sum(half, part.as<double>());
  expect_right_sum(second.split_by_node(), part.as<double>());
}

TEST(Lifetime, OfTheCommunicatorIsLonger) {
  const Communicator comm = world();
  for (int i = 0; i < 20; ++i) {
    const Allocation part = allocate(comm, many);
    expect_right_sum(comm, part.as<double>());
  }
}

TEST(Lifetime, OfOneOnASubCommunicator) {
  const Communicator comm = world();
  const Communicator half = comm.split(comm.rank() % 2, comm.rank());
  const Allocation part = allocate(half, many);
  expect_right_sum(half, part.as<double>());
  // Other ranks of the node have not mapped it.
  expect_right_sum(comm, part.as<double>());
}

TEST(Lifetime, EndsOnOneRankBeforeTheOthers) {
  const Communicator comm = world();
  for (int early = 0; early < comm.size(); ++early) {
    std::optional<Allocation> part = allocate(comm, many);
    expect_right_sum(comm, part->as<double>());
    std::vector<double> ordinary(part->as<double>().size());
    const bool is_early = comm.rank() == early;
    if (is_early) part.reset();
    expect_right_sum(comm, is_early ? std::span(ordinary) : part->as<double>());
    barrier(comm);
    part.reset();
    expect_right_sum(comm, ordinary);
  }
}

TEST(Lifetime, EndsWhileAnotherBuffersCallGoesOn) {
  const Communicator comm = world();
  const Allocation used = allocate(comm, many);
  std::optional<Allocation> unused = allocate(comm, many);
  std::ranges::fill(used.as<double>(), 1.0);
  Request request = iallreduce(comm, used.as<double>(), sum);
  unused.reset();
  request.wait();
  EXPECT_EQ(used.as<double>().back(), comm.size());
}

TEST(Lifetime, ManyAtATime) {
  const Communicator comm = world();
  std::vector<Allocation> parts;
  for (std::size_t i = 0; i < 50; ++i) parts.push_back(allocate(comm, 70'000 + 8 * i));
  for (const Allocation& part : parts) expect_right_sum(comm, part.as<double>());
  for (std::size_t i = 0; i < parts.size(); i += 2) parts[i] = Allocation();
  for (std::size_t i = 1; i < parts.size(); i += 2) expect_right_sum(comm, parts[i].as<double>());
}

}  // namespace
}  // namespace tutti
