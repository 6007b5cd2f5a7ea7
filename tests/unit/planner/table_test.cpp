// SPDX-License-Identifier: BSD-3-Clause
#include "planner/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "example.hpp"

namespace tutti::detail::tuning {
namespace {

using test::cell;
using test::float32;
using test::signature;

Cell allreduce(std::size_t bytes, double seconds, TypeClass type = float32) {
  return cell(Operation::allreduce, CallKind::blocking, type, bytes, {{"mpi:ring", seconds}});
}

std::optional<double> ring(const Table& table, std::size_t count, Datatype type = DatatypeKind::float32) {
  return table.seconds(signature(Operation::allreduce, count, type), "mpi:ring");
}

TEST(Table, GivesWhatWasMeasured) {
  const Table table({allreduce(1024, 3e-6), allreduce(4096, 9e-6)});
  EXPECT_EQ(ring(table, 256), 3e-6);
  EXPECT_EQ(ring(table, 1024), 9e-6);
  EXPECT_EQ(table.cell_count(), 2U);
}

TEST(Table, InterpolatesInTheLogarithmOfTheSize) {
  const Table table({allreduce(1024, 2e-6), allreduce(4096, 8e-6)});
  ASSERT_TRUE(ring(table, 512));
  EXPECT_NEAR(*ring(table, 512), 4e-6, 1e-12);
  EXPECT_GT(*ring(table, 513), *ring(table, 512));
}

TEST(Table, SaysNothingFarFromWhatWasMeasured) {
  const Table table({allreduce(1024, 2e-6), allreduce(std::size_t{1} << 20U, 1e-3)});
  EXPECT_FALSE(ring(table, 8 * 1024));  // 32 KiB is 32 times the one and a 32nd of the other
  EXPECT_EQ(ring(table, 64), 2e-6);     // latency
  EXPECT_FALSE(ring(table, 63));
  ASSERT_TRUE(ring(table, 1U << 20U));
  EXPECT_NEAR(*ring(table, 1U << 20U), 4e-3, 1e-9);  // bandwidth
  EXPECT_FALSE(ring(table, (1U << 20U) + 1));
}

TEST(Table, ReachesASixteenthOfBothNeighbours) {
  const Table table({allreduce(1024, 1e-6), allreduce(16 * 1024, 1e-5)});
  EXPECT_TRUE(ring(table, 1024));
}

TEST(Table, KeepsOperationsKindsAndCandidatesApart) {
  const Table table({allreduce(1024, 2e-6)});
  EXPECT_FALSE(table.seconds(signature(Operation::allreduce, 256), "mpi:rabenseifner"));
  EXPECT_FALSE(table.seconds(signature(Operation::reduce, 256), "mpi:ring"));
  EXPECT_FALSE(
      table.seconds(signature(Operation::allreduce, 256, DatatypeKind::float32, CallKind::persistent), "mpi:ring"));
}

TEST(Table, APlaceIsOperationKindTypeAndSize) {
  const Cell place = allreduce(1024, 2e-6);
  EXPECT_TRUE(is_same_place(place, allreduce(1024, 3e-6)));
  EXPECT_FALSE(is_same_place(place, allreduce(2048, 2e-6)));
  Cell other = place;
  other.operation = Operation::reduce;
  EXPECT_FALSE(is_same_place(place, other));
  other = place;
  other.kind = CallKind::persistent;
  EXPECT_FALSE(is_same_place(place, other));
  other = place;
  other.type.element_bytes = 8;
  EXPECT_FALSE(is_same_place(place, other));
}

TEST(Table, TakesTheNearestWidthOfTheSameArithmetic) {
  const Table table({allreduce(1024, 2e-6), allreduce(1024, 5e-6, {Arithmetic::plain, 8}),
                     allreduce(1024, 9e-6, {Arithmetic::narrow, 2})});
  EXPECT_EQ(ring(table, 128, DatatypeKind::float64), 5e-6);
  EXPECT_EQ(ring(table, 512, DatatypeKind::int16), 2e-6);
  EXPECT_EQ(ring(table, 512, DatatypeKind::bfloat16), 9e-6);
  EXPECT_FALSE(ring(table, 128, DatatypeKind::complex64));
  Signature user = signature(Operation::allreduce, 256);
  user.op = ReduceKind::user;
  EXPECT_FALSE(table.seconds(user, "mpi:ring"));
}

TEST(Table, MovesBytesWhateverTheirType) {
  const Table table({cell(Operation::bcast, CallKind::blocking, {}, 4096, {{"shm:slots", 2e-6}})});
  EXPECT_EQ(table.seconds(signature(Operation::bcast, 1024), "shm:slots"), 2e-6);
  EXPECT_EQ(table.seconds(signature(Operation::bcast, 256, DatatypeKind::complex128), "shm:slots"), 2e-6);
  EXPECT_EQ(table.seconds(signature(Operation::bcast, 2, Datatype::bytes(2048)), "shm:slots"), 2e-6);
}

TEST(Table, OneFigureForCallsWithoutASharedSize) {
  const Table table({cell(Operation::barrier, CallKind::blocking, {}, 0, {{"shm:line", 1e-7}}),
                     cell(Operation::alltoallv, CallKind::blocking, {}, 0, {{"mpi:direct", 3e-6}})});
  EXPECT_EQ(table.seconds(signature(Operation::barrier, 0), "shm:line"), 1e-7);
  EXPECT_EQ(table.seconds(signature(Operation::alltoallv, 0), "mpi:direct"), 3e-6);
}

TEST(Table, EmptyOneKnowsNothing) { EXPECT_FALSE(ring(Table{}, 1)); }

TEST(Table, CallsWithoutElementsTakeTheTimeOfTheSmallest) {
  const Table table({allreduce(4, 2e-7)});
  EXPECT_EQ(ring(table, 0), 2e-7);
}

}  // namespace
}  // namespace tutti::detail::tuning
