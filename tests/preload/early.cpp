// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking calls on communicators that have made no blocking one.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "preload/world.hpp"

namespace tutti::test {
namespace {

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Whether a nonblocking call goes through the library.
bool takes_nonblocking(MPI_Comm comm) {
  const std::uint64_t before = calls_through_library();
  const int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, size_of(comm));
  return calls_through_library() > before;
}

class EarlyCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of(MPI_COMM_WORLD) < 2) GTEST_SKIP() << "one rank: all calls are the MPI's";
  }
};

TEST_F(EarlyCalls, AreTakenOnTheWorld) { EXPECT_TRUE(takes_nonblocking(MPI_COMM_WORLD)); }

TEST_F(EarlyCalls, AreTakenOnTheFirstDuplicates) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  EXPECT_TRUE(takes_nonblocking(copy));
  std::vector<MPI_Comm> children(6, MPI_COMM_NULL);
  for (MPI_Comm& child : children) MPI_Comm_dup(copy, &child);
  for (std::size_t i = 0; i < children.size(); ++i) EXPECT_EQ(takes_nonblocking(children[i]), i < 4) << "child " << i;
  MPI_Comm grandchild = MPI_COMM_NULL;
  MPI_Comm_dup(children[0], &grandchild);
  EXPECT_TRUE(takes_nonblocking(grandchild));
  MPI_Comm_free(&grandchild);
  MPI_Comm_dup(children[0], &grandchild);
  EXPECT_FALSE(takes_nonblocking(grandchild));
  MPI_Comm_free(&grandchild);
  for (MPI_Comm& child : children) MPI_Comm_free(&child);
  MPI_Comm_free(&copy);
}

TEST_F(EarlyCalls, AreTakenOnAGrid) {
  const int sizes[] = {size_of(MPI_COMM_WORLD)};
  const int periods[] = {1};
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, 0, &grid);
  EXPECT_TRUE(takes_nonblocking(grid));
  MPI_Comm_free(&grid);
}

TEST_F(EarlyCalls, ArePassedOnWhereTheRanksAreOthers) {
  const ReversedWorld comm;
  EXPECT_FALSE(takes_nonblocking(comm.get()));
  MPI_Barrier(comm.get());
  EXPECT_TRUE(takes_nonblocking(comm.get()));
}

}  // namespace
}  // namespace tutti::test
