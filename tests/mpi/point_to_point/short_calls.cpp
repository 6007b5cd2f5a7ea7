// SPDX-License-Identifier: BSD-3-Clause
// Short messages cost little more than the host MPI's own, which a call on the heap, or a text made in vain, would
// spoil.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tutti/point_to_point.hpp>

#include "support/exercise.hpp"
#include "support/heap.hpp"
#include "support/instructions.hpp"

namespace tutti::test {
namespace {

TEST(ShortCalls, TakeNoMemoryFromTheHeap) {
  const Communicator& world = communicators().front();
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();
  std::int64_t out = world.rank();
  std::int64_t in = -1;
  const auto exchange = [&] { sendrecv(world, ConstBuffer(&out, 1), right, 4, Buffer(&in, 1), left, 4); };
  exchange();
  const std::size_t before = allocations();
  for (int i = 0; i < 20; ++i) exchange();
  const std::size_t after = allocations();
  EXPECT_EQ(after - before, 0U);
  EXPECT_EQ(in, left);
  EXPECT_GT(before, 0U) << "allocations are counted";
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool is_optimised = true;
#else
constexpr bool is_optimised = false;
#endif

/// The instructions of the host MPI do not count. Before short messages left out the execution, there were 1665.
TEST(ShortCalls, RunFewInstructionsOfTheLibrary) {
  const Communicator& world = communicators().front();
  if (world.size() != 2) GTEST_SKIP() << "needs two ranks";
  constexpr int calls = 8;
  std::int64_t out = world.rank();
  std::int64_t in = -1;
  const auto exchange = [&] {
    sendrecv(world, ConstBuffer(&out, 1), 1 - world.rank(), 4, Buffer(&in, 1), 1 - world.rank(), 4);
  };
  for (int i = 0; i < 20; ++i) exchange();
  long least = std::numeric_limits<long>::max();
  bool is_counted = true;
  for (int i = 0; i < calls; ++i) {
    if (world.rank() != 0) {
      exchange();
    } else if (const auto count = own_instructions_of(exchange)) {
      least = std::min(least, *count);
    } else {
      is_counted = false;
    }
  }
  EXPECT_EQ(in, 1 - world.rank());
  if (world.rank() != 0) return;
  if (!is_counted) GTEST_SKIP() << "processes may not be traced here";
  if (!is_optimised) GTEST_SKIP() << "not an optimised build: " << least << " instructions";
  EXPECT_LE(least, 1000);
  EXPECT_GT(least, 100) << "instructions are counted";
  RecordProperty("instructions", static_cast<int>(least));
}

}  // namespace
}  // namespace tutti::test
