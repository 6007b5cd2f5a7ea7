// SPDX-License-Identifier: BSD-3-Clause
#include "operation/buffer_use.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/hash.hpp"

namespace tutti::detail {
namespace {

class UsesTest : public testing::Test {
 protected:
  UsesTest() : in(100), out(100) {
    signature.type = DatatypeKind::int32;
    signature.count = 4;
    binding.input = in.data();
    binding.output = out.data();
  }
  BufferUses uses(Operation operation, int rank = 0) {
    signature.operation = operation;
    return uses_of(signature, binding, rank, 3);
  }
  static std::size_t bytes(const std::vector<Bytes>& all) { return all.empty() ? 0 : all[0].size(); }

  Signature signature;
  Binding binding;
  std::vector<int> in;
  std::vector<int> out;
};

TEST_F(UsesTest, SizesFollowTheOperation) {
  EXPECT_EQ(bytes(uses(Operation::allreduce).read), 16U);
  EXPECT_EQ(bytes(uses(Operation::allreduce).written), 16U);
  EXPECT_EQ(bytes(uses(Operation::allgather).written), 48U);
  EXPECT_EQ(bytes(uses(Operation::alltoall).read), 48U);
  EXPECT_EQ(bytes(uses(Operation::reduce_scatter_block).read), 48U);
  EXPECT_EQ(bytes(uses(Operation::reduce_scatter_block).written), 16U);
  EXPECT_TRUE(uses(Operation::barrier).read.empty());
}

TEST_F(UsesTest, TheRootDiffersFromTheOthers) {
  EXPECT_EQ(bytes(uses(Operation::bcast, 0).read), 16U);
  EXPECT_TRUE(uses(Operation::bcast, 0).written.empty());
  EXPECT_EQ(bytes(uses(Operation::bcast, 1).written), 16U);
  EXPECT_EQ(bytes(uses(Operation::gather, 0).written), 48U);
  EXPECT_TRUE(uses(Operation::gather, 1).written.empty());
  EXPECT_EQ(bytes(uses(Operation::scatter, 0).read), 48U);
  EXPECT_TRUE(uses(Operation::scatter, 1).read.empty());
}

TEST_F(UsesTest, WhatIsOverwrittenInPlaceIsWritten) {
  binding.in_place = true;
  EXPECT_TRUE(uses(Operation::allreduce).read.empty());
  EXPECT_EQ(bytes(uses(Operation::reduce_scatter_block).written), 48U);
  EXPECT_EQ(bytes(uses(Operation::scatter, 0).read), 48U);
  EXPECT_TRUE(uses(Operation::scatter, 0).written.empty());
}

TEST_F(UsesTest, BlocksAreUsedWithoutTheirGaps) {
  binding.send_counts = {2, 0, 3};
  binding.send_displs = {10, 0, 20};
  binding.recv_counts = {1, 1, 0};
  binding.recv_displs = {0, 5, 0};
  const BufferUses found = uses(Operation::alltoallv);
  ASSERT_EQ(found.read.size(), 2U);
  ASSERT_EQ(found.written.size(), 2U);
  EXPECT_EQ(found.read[1].size(), 12U);
  BufferUses gap;
  gap.add_written(in.data() + 12, 8 * sizeof(int));
  EXPECT_FALSE(share_memory(found.read, gap.written));
  gap.add_written(in.data() + 19, 2 * sizeof(int));
  EXPECT_TRUE(share_memory(found.read, gap.written));
  const std::vector<Bytes> none = {found.read[1].first(0), found.read[1].subspan(4, 0)};
  EXPECT_FALSE(share_memory(found.read, none));
  EXPECT_FALSE(share_memory(none, found.read));
}

TEST_F(UsesTest, DeviceMemoryIsNotLookedAt) {
  signature.memory = MemoryClass::device;
  EXPECT_TRUE(uses(Operation::allreduce).read.empty());
}

TEST(Fingerprint, SeesTheEndsAndAllBytesIfAsked) {
  std::vector<std::byte> data(100'000);
  const std::uint64_t sampled = fingerprint(data, false);
  const std::uint64_t whole = fingerprint(data, true);
  data[20] = std::byte{1};
  EXPECT_NE(fingerprint(data, false), sampled);
  data[20] = std::byte{0};
  data[99'999] = std::byte{1};
  EXPECT_NE(fingerprint(data, false), sampled);
  data[99'999] = std::byte{0};
  EXPECT_EQ(fingerprint(data, false), sampled);
  data[12'345] = std::byte{1};
  EXPECT_NE(fingerprint(data, true), whole);
}

}  // namespace
}  // namespace tutti::detail
