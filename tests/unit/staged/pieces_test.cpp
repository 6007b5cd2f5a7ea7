// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/pieces.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <span>

namespace tutti::detail::staged {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

Signature signature_of(Operation operation, std::size_t count, Datatype type = DatatypeKind::float32) {
  Signature s;
  s.operation = operation;
  s.memory = MemoryClass::device;
  s.type = type;
  s.count = count;
  return s;
}

TEST(Cut, ShortOperationsAreOnePiece) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, mib / 4 - 1}) {
    const Cut c = cut(signature_of(Operation::allreduce, count), 4);
    EXPECT_EQ(c.pieces, 1U);
    EXPECT_EQ(c.count, count);
  }
}

TEST(Cut, LongerOnesAreTwoAtLeastAndSixteenAtMost) {
  EXPECT_EQ(cut(signature_of(Operation::allreduce, mib / 4), 4).pieces, 2U);
  EXPECT_EQ(cut(signature_of(Operation::bcast, 5 * mib), 4).pieces, 5U);
  EXPECT_EQ(cut(signature_of(Operation::scan, 1024 * mib), 4).pieces, 16U);
}

TEST(Cut, BlocksCountTogether) {
  // 4 blocks of 1 MiB floats: 16 MiB.
  EXPECT_EQ(cut(signature_of(Operation::allgather, mib), 4).pieces, 4U);
  EXPECT_EQ(cut(signature_of(Operation::allgather, mib), 1).pieces, 2U);
}

TEST(Cut, VaryingCountsAreOnePiece) {
  for (const Operation operation : {Operation::allgatherv, Operation::reduce_scatter, Operation::gatherv,
                                    Operation::scatterv, Operation::alltoallv})
    EXPECT_EQ(cut(signature_of(operation, 100 * mib), 4).pieces, 1U);
}

TEST(Cut, PiecesCoverTheVectorOnce) {
  for (const std::size_t most : {2U, 3U, 7U, 16U})
    for (std::size_t count = 1; count < 80; ++count) {
      const Cut c = cut(signature_of(Operation::alltoall, count), 3, {1, 4, most});
      ASSERT_LE(c.pieces, most);
      std::size_t next = 0;
      for (std::size_t i = 0; i < c.pieces; ++i) {
        const ElementRange range = range_of(c, count, i);
        ASSERT_EQ(range.offset, next);
        ASSERT_GT(range.count, 0U);
        if (i + 1 < c.pieces) {
          ASSERT_EQ(range.count, c.count);
        }
        next += range.count;
      }
      ASSERT_EQ(next, count);
    }
}

TEST(Stage, RangesOfEveryBlock) {
  Binding binding;
  const Signature s = signature_of(Operation::alltoall, 10);
  const Staging staging = stage(s, binding, 1, 3, {4, 5});
  const Copy expected{16, 0, 20, 3, 40, 20};
  ASSERT_EQ(staging.in.size(), 1U);
  ASSERT_EQ(staging.out.size(), 1U);
  EXPECT_EQ(staging.in[0], expected);
  EXPECT_EQ(staging.out[0], expected);
  EXPECT_EQ(staging.in_bytes, 60U);
}

TEST(Stage, WholeBlocksAreOneCopy) {
  const Staging staging = stage(signature_of(Operation::allgather, 10), {}, 1, 3, {0, 10});
  EXPECT_EQ(staging.out, (std::vector<Copy>{{0, 0, 120, 1, 0, 0}}));
  EXPECT_EQ(staging.in, (std::vector<Copy>{{0, 0, 40, 1, 0, 0}}));
}

TEST(Stage, OnlyTheRootHasBothSides) {
  Signature s = signature_of(Operation::reduce, 10);
  s.root = 2;
  EXPECT_EQ(stage(s, {}, 2, 3, {0, 10}).out_bytes, 40U);
  EXPECT_EQ(stage(s, {}, 0, 3, {0, 10}).out_bytes, 0U);
  s.operation = Operation::scatter;
  EXPECT_EQ(stage(s, {}, 2, 3, {0, 10}).in_bytes, 120U);
  EXPECT_EQ(stage(s, {}, 1, 3, {0, 10}).in_bytes, 0U);
  s.operation = Operation::gather;
  EXPECT_EQ(stage(s, {}, 2, 3, {0, 10}).out_bytes, 120U);
  EXPECT_EQ(stage(s, {}, 1, 3, {0, 10}).out_bytes, 0U);
}

TEST(Stage, BcastHasOneBufferAndOneDirection) {
  Signature s = signature_of(Operation::bcast, 10);
  s.root = 1;
  const Staging root = stage(s, {}, 1, 3, {2, 3});
  const Staging other = stage(s, {}, 0, 3, {2, 3});
  EXPECT_TRUE(root.shared);
  EXPECT_EQ(root.in, (std::vector<Copy>{{8, 0, 12, 1, 40, 12}}));
  EXPECT_TRUE(root.out.empty());
  EXPECT_EQ(other.out, root.in);
  EXPECT_TRUE(other.in.empty());
  EXPECT_EQ(root.out_bytes, 12U);
  EXPECT_EQ(other.out_bytes, 12U);
}

TEST(Stage, GapsStayOut) {
  constexpr std::array<std::size_t, 12> lists = {2, 0, 3, 10, 0, 1, 1, 4, 2, 0, 1, 8};
  const std::span all(lists);
  const Binding binding{{all.subspan(0, 3), all.subspan(3, 3), all.subspan(6, 3), all.subspan(9, 3)}};
  const Staging staging = stage(signature_of(Operation::alltoallv, 0), binding, 0, 3, {0, 0});
  EXPECT_EQ(staging.in, (std::vector<Copy>{{40, 0, 8, 1, 0, 0}, {4, 8, 12, 1, 0, 0}}));
  // The first two blocks touch: one copy.
  EXPECT_EQ(staging.out, (std::vector<Copy>{{0, 0, 20, 1, 0, 0}, {32, 20, 8, 1, 0, 0}}));
  constexpr std::array<std::size_t, 6> places = {0, 2, 2, 0, 1, 5};
  const std::span packed(places);
  EXPECT_EQ(staging.host, (BlockLists{all.first(3), packed.first(3), all.subspan(6, 3), packed.last(3)}));
  EXPECT_EQ(staging.in_bytes, 20U);
  EXPECT_EQ(staging.out_bytes, 28U);
}

TEST(Stage, NothingGoesBackWhereNothingIsWritten) {
  Binding binding;
  binding.in_place = true;
  const Signature scatter = signature_of(Operation::scatter, 10);
  EXPECT_TRUE(stage(scatter, binding, 0, 3, {0, 10}).out.empty());
  EXPECT_EQ(stage(scatter, binding, 0, 3, {0, 10}).out_bytes, 40U);  // the host's piece has a block all the same
  EXPECT_FALSE(stage(scatter, {}, 0, 3, {0, 10}).out.empty());
  EXPECT_TRUE(stage(signature_of(Operation::exscan, 10), {}, 0, 3, {0, 10}).out.empty());
  EXPECT_FALSE(stage(signature_of(Operation::exscan, 10), {}, 1, 3, {0, 10}).out.empty());
}

TEST(Stage, TheHostIsNeverInPlaceAndKeepsTheOperation) {
  Binding binding;
  binding.in_place = true;
  binding.op = ReduceOp::premul_sum(0.5);
  const Staging staging = stage(signature_of(Operation::allreduce, 10), binding, 0, 3, {0, 10});
  EXPECT_FALSE(staging.host.in_place);
  EXPECT_EQ(staging.host.op.kind(), ReduceKind::premul_sum);
  EXPECT_EQ(staging.host.op.scalar(), 0.5);
}

TEST(Stage, ReduceScatterOfOwnCounts) {
  Binding binding;
  constexpr std::array<std::size_t, 3> counts = {3, 0, 5};
  binding.recv_counts = counts;
  binding.recv_count = 5;
  const Staging staging = stage(signature_of(Operation::reduce_scatter, 8), binding, 2, 3, {0, 8});
  EXPECT_EQ(staging.in_bytes, 32U);
  EXPECT_EQ(staging.out_bytes, 20U);
}

}  // namespace
}  // namespace tutti::detail::staged
