// SPDX-License-Identifier: BSD-3-Clause
// Short messages cost little more than the host MPI's own, which a call on the heap, or a text made in vain, would
// spoil.
#include <gtest/gtest.h>

#include <cstdint>
#include <tutti/point_to_point.hpp>

#include "support/exercise.hpp"
#include "support/heap.hpp"

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

}  // namespace
}  // namespace tutti::test
