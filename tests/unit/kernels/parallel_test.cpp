// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

// Loops of the host are Kokkos' in the threads that may start them, and plain ones in all others.
namespace {

using tutti::kernels::for_each_partition;
using tutti::kernels::partition_count;
constexpr std::size_t many = 1000;

/// The threads that ran a loop; a failure unless each of the partitions ran once.
std::set<std::thread::id> threads_of(std::size_t partitions) {
  std::vector<std::atomic<int>> runs(partitions);
  std::vector<std::thread::id> threads(partitions);
  for_each_partition(partitions, [&](std::size_t p) {
    ++runs[p];
    threads[p] = std::this_thread::get_id();
  });
  for (std::size_t p = 0; p < partitions; ++p) EXPECT_EQ(runs[p], 1) << "partition " << p << " of " << partitions;
  return {threads.begin(), threads.end()};
}

TEST(Partitions, AreShared) {
  const std::size_t threads = partition_count(0);
  for (const std::size_t partitions : {std::size_t{2}, threads, threads + 1, many}) threads_of(partitions);
  if (threads == 1) GTEST_SKIP() << "Kokkos' host space has one thread";
  EXPECT_EQ(threads_of(threads).size(), threads);
}

TEST(Partitions, RunInAnyThread) {
  threads_of(2);  // so this thread was first
  std::thread other([] {
    EXPECT_GE(partition_count(0), 1U);
    for (std::size_t partitions = 1; partitions <= 20; ++partitions) threads_of(partitions);
  });
  other.join();
}

TEST(Partitions, RunInSeveralThreadsAtOnce) {
  constexpr int loops = 200;
  const auto run = [] {
    for (int i = 0; i < loops; ++i) threads_of(2 + static_cast<std::size_t>(i) % 7);
  };
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

/// In a process of its own, whose main thread ends it: the first loop is another's.
TEST(PartitionsDeathTest, AnotherThreadMayBeFirst) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::thread([] { threads_of(3); }).join();
        threads_of(3);
        std::exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
