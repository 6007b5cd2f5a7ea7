// SPDX-License-Identifier: BSD-3-Clause
// Copies by the kernel, from and to this process itself: any is another's to it.
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

#include "backends/shm/peer_memory.hpp"

namespace tutti::test {
namespace {

using namespace detail::shm;

constexpr std::size_t room = 100'000;

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

bool may_copy() {
  char one = 1;
  char other = 0;
  return try_read_memory(getpid(), address_of(&one), &other, 1);
}

std::vector<unsigned char> numbered() {
  std::vector<unsigned char> data(room);
  for (std::size_t i = 0; i < room; ++i) data[i] = static_cast<unsigned char>(i * 37 + i / 251 + 1);
  return data;
}

/// Copies from each place to each, and looks at what was written and at what was not.
template <typename Copy>
void expect_copies(const Copy& copy) {
  if (!may_copy()) GTEST_SKIP() << "the kernel refuses process_vm_readv";
  const auto source = numbered();
  for (const std::size_t from : {0, 5, 4000})
    for (const std::size_t to : {1, 8, 40})
      for (const std::size_t bytes : {1, 4096, 32'767, 32'768, 32'769, 70'000}) {
        std::vector<unsigned char> target(room, 0);
        std::vector<unsigned char> expected(room, 0);
        std::copy_n(source.data() + from, bytes, expected.data() + to);
        ASSERT_TRUE(copy(source.data() + from, target.data() + to, bytes));
        EXPECT_EQ(target, expected) << bytes << " bytes from " << from << " to " << to;
      }
}

TEST(MemoryAccess, ReadsByADetour) {
  expect_copies([](const void* from, void* to, std::size_t bytes) {
    return read_by_detour(getpid(), address_of(from), to, bytes) == 0;
  });
}

TEST(MemoryAccess, WritesByADetour) {
  expect_copies([](const void* from, void* to, std::size_t bytes) {
    return write_by_detour(getpid(), address_of(to), from, bytes) == 0;
  });
}

TEST(MemoryAccess, ReadsAndWritesAtEveryDistance) {
  expect_copies([](const void* from, void* to, std::size_t bytes) {
    return try_read_memory(getpid(), address_of(from), to, bytes);
  });
  expect_copies([](const void* from, void* to, std::size_t bytes) {
    return try_write_memory(getpid(), address_of(to), from, bytes);
  });
}

TEST(MemoryAccess, ADetourFailsAsTheKernelDoes) {
  if (!may_copy()) GTEST_SKIP() << "the kernel refuses process_vm_readv";
  std::vector<unsigned char> data(room);
  constexpr std::uint64_t nowhere = 64;
  EXPECT_EQ(read_by_detour(getpid(), nowhere, data.data(), room), EFAULT);
  EXPECT_EQ(write_by_detour(getpid(), nowhere, data.data(), room), EFAULT);
  auto* missing = reinterpret_cast<void*>(nowhere);  // NOLINT(performance-no-int-to-ptr)
  EXPECT_EQ(read_by_detour(getpid(), address_of(data.data()), missing, room), EFAULT);
  EXPECT_EQ(write_by_detour(getpid(), address_of(data.data()), missing, room), EFAULT);
}

}  // namespace
}  // namespace tutti::test
