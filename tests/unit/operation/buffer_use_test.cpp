// SPDX-License-Identifier: BSD-3-Clause
#include "operation/buffer_use.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>
#include <vector>

#include "check/overlap.hpp"

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
  constexpr std::array<std::size_t, 12> lists = {2, 0, 3, 10, 0, 20, 1, 1, 0, 0, 5, 0};
  const std::span all(lists);
  static_cast<BlockLists&>(binding) = {all.subspan(0, 3), all.subspan(3, 3), all.subspan(6, 3), all.subspan(9, 3)};
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

TEST_F(UsesTest, DataAreWhatIsGivenAndTakenInPlaceToo) {
  const auto total = [](const std::vector<Bytes>& all) {
    std::size_t sum = 0;
    for (const Bytes& block : all) sum += block.size();
    return sum;
  };
  const auto expect = [&](Operation operation, int rank, std::size_t given, std::size_t taken) {
    signature.operation = operation;
    const BufferUses data = data_of(signature, binding, rank, 3);
    EXPECT_EQ(total(data.read), given) << operation_name(operation) << " " << rank;
    EXPECT_EQ(total(data.written), taken) << operation_name(operation) << " " << rank;
  };
  constexpr std::array<std::size_t, 12> lists = {1, 2, 3, 2, 0, 3, 10, 0, 20, 5, 0, 9};
  for (const bool in_place : {false, true}) {
    binding.in_place = in_place;
    expect(Operation::barrier, 0, 0, 0);
    expect(Operation::bcast, 0, 16, 16);
    expect(Operation::bcast, 1, 0, 16);
    expect(Operation::allreduce, 1, 16, 16);
    expect(Operation::reduce, 0, 16, 16);
    expect(Operation::reduce, 1, 16, 0);
    expect(Operation::reduce_scatter_block, 1, 48, 16);
    expect(Operation::exscan, 0, 16, 0);
    expect(Operation::exscan, 1, 16, 16);
    expect(Operation::allgather, 1, 16, 48);
    expect(Operation::gather, 0, 16, 48);
    expect(Operation::gather, 1, 16, 0);
    expect(Operation::scatter, 0, 48, 16);
    expect(Operation::scatter, 1, 0, 16);
    expect(Operation::alltoall, 1, 48, 48);
    binding.recv_counts = std::span(lists).subspan(0, 3);
    expect(Operation::reduce_scatter, 1, 24, 8);
  }
  binding.send_counts = std::span(lists).subspan(3, 3);
  binding.send_displs = std::span(lists).subspan(6, 3);
  binding.recv_displs = std::span(lists).subspan(9, 3);
  expect(Operation::alltoallv, 1, 20, 24);
  EXPECT_EQ(data_of(signature, binding, 1, 3).written[0].data(), std::as_bytes(std::span(out)).data() + 20);
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
