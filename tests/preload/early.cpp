// SPDX-License-Identifier: BSD-3-Clause
// First calls of communicators: which of them have the library's side.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <string>
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

/// A call on one rank alone, which the MPI refuses.
void make_wrong_call(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (rank == 0 && !returns_no_error()) {
    EXPECT_NE(MPI_Bcast(&rank, -1, MPI_INT, 0, comm), MPI_SUCCESS);
  }
}

/// The first of the process that makes a side so: nothing is known yet of what one costs.
TEST_F(EarlyCalls, ArePassedOnUntilTheCommunicatorHasMadeMany) {
  MPI_Comm comm = new_communicator();
  const std::uint64_t before = calls_through_library();
  for (int i = 0; i < first_calls / 2 - 1; ++i) {
    EXPECT_FALSE(takes_nonblocking(comm)) << i;
    MPI_Barrier(comm);
    make_wrong_call(comm);
  }
  MPI_Request outstanding = MPI_REQUEST_NULL;
  int word = 5;
  MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &outstanding);
  EXPECT_EQ(calls_through_library(), before);
  MPI_Barrier(comm);
  EXPECT_EQ(calls_through_library(), before + 1);
  EXPECT_TRUE(takes_nonblocking(comm));
  MPI_Wait(&outstanding, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

TEST_F(EarlyCalls, AreTakenAfterAPersistentOne) {
  MPI_Comm comm = new_communicator();
  make_side(comm);
  EXPECT_TRUE(takes_nonblocking(comm));
  MPI_Comm_free(&comm);
}

/// The order of blocks is the library's.
TEST_F(EarlyCalls, AreTakenBetweenNeighbors) {
  const int sizes[] = {size_of(MPI_COMM_WORLD)};
  const int periods[] = {1};
  MPI_Comm whole = new_communicator();
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(whole, 1, sizes, periods, 0, &grid);
  const std::uint64_t before = calls_through_library();
  const int word = 5;
  int words[2] = {};
  MPI_Neighbor_allgather(&word, 1, MPI_INT, words, 1, MPI_INT, grid);
  EXPECT_EQ(words[0] + words[1], 2 * word);
  EXPECT_EQ(calls_through_library(), before + 1);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&whole);
}

TEST_F(EarlyCalls, AreTakenWhereBitsAreReproducible) {
  if (std::getenv("TUTTI_REPRODUCIBLE") == nullptr) GTEST_SKIP() << "with TUTTI_REPRODUCIBLE=1";
  MPI_Comm comm = new_communicator();
  const std::uint64_t before = calls_through_library();
  const double part = 0.1;
  double sum = 0;
  MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  EXPECT_EQ(calls_through_library(), before + 1);
  MPI_Comm_free(&comm);
}

/// Sides of the library take a share of the MPI's contexts, so that those of a program are as many as without it.
TEST_F(EarlyCalls, LeaveContextsToTheProgram) {
  if (mpi_name().find("MPICH") == std::string::npos) GTEST_SKIP() << "the MPI has other limits";
  std::vector<MPI_Comm> many(2000, MPI_COMM_NULL);
  for (std::size_t i = 0; i < many.size(); ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &many[i]);
    ASSERT_NE(many[i], MPI_COMM_NULL) << "communicator " << i;
    if (i < 100) make_side(many[i]);
  }
  EXPECT_TRUE(takes_nonblocking(many.front()));
  EXPECT_FALSE(takes_nonblocking(many.back()));
  for (MPI_Comm& comm : many) MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace tutti::test
