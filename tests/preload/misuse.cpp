// SPDX-License-Identifier: BSD-3-Clause
// Errors keep MPI's meaning, and communicators theirs.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "preload/world.hpp"

namespace tutti::test {
namespace {

/// Open MPI does not.
bool looks_at_aliases() { return mpi_name().find("Open MPI") == std::string::npos; }

class Errors : public testing::Test {
 protected:
  void SetUp() override {
    if (returns_no_error()) GTEST_SKIP() << "the MPI ends the program in spite of MPI_ERRORS_RETURN";
    MPI_Comm_set_errhandler(comm.get(), MPI_ERRORS_RETURN);
    MPI_Barrier(comm.get());
  }
  static int class_of(int code) {
    int error_class = 0;
    MPI_Error_class(code, &error_class);
    return error_class;
  }
  ReversedWorld comm{};
  std::vector<int> data = std::vector<int>(64);
};

// One rank alone meets them, as in MPICH's tests: nothing collective may have begun.
TEST_F(Errors, OfArgumentsAreTheMpis) {
  if (comm.rank() == 0) {
    EXPECT_EQ(class_of(MPI_Bcast(data.data(), 1, MPI_INT, comm.size(), comm.get())), MPI_ERR_ROOT);
    EXPECT_EQ(class_of(MPI_Bcast(data.data(), -1, MPI_INT, 0, comm.get())), MPI_ERR_COUNT);
    EXPECT_EQ(class_of(MPI_Bcast(data.data(), 1, MPI_DATATYPE_NULL, 0, comm.get())), MPI_ERR_TYPE);
    if (looks_at_aliases()) {
      EXPECT_NE(MPI_Allreduce(data.data(), data.data(), 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
      EXPECT_NE(MPI_Allgather(data.data(), 1, MPI_INT, data.data(), 1, MPI_INT, comm.get()), MPI_SUCCESS);
    }
    EXPECT_EQ(class_of(MPI_Allreduce(data.data(), data.data() + 9, 1, MPI_INT, MPI_OP_NULL, comm.get())), MPI_ERR_OP);
    EXPECT_EQ(class_of(MPI_Allreduce(data.data(), data.data() + 9, 1, MPI_FLOAT, MPI_BXOR, comm.get())), MPI_ERR_OP);
  }
  if (looks_at_aliases()) {  // all ranks, each with its own block
    int* const own = data.data() + comm.rank();
    EXPECT_NE(MPI_Allgather(own, 1, MPI_INT, data.data(), 1, MPI_INT, comm.get()), MPI_SUCCESS);
    if (comm.rank() == 1) {
      EXPECT_NE(MPI_Gather(own, 1, MPI_INT, data.data(), 1, MPI_INT, 1, comm.get()), MPI_SUCCESS);
    }
  }
  int one = 1;
  int sum = 0;
  EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(sum, comm.size());
}

TEST_F(Errors, OfRanksThatDisagreeReachTheHandler) {
  if (comm.size() < 2) GTEST_SKIP() << "one rank";
  if (mpi_name().find("5.0.2") != std::string::npos)
    GTEST_SKIP() << "MPICH 5.0.2 ends in MPI_Comm_free where one rank frees a communicator that another one keeps";
  if (mpi_name().find("Open MPI") != std::string::npos)
    GTEST_SKIP() << "a rank frees its side while another one's message is on the way, which Open MPI gives to the next "
                    "communicator";
  const int count = comm.rank() == 0 ? 4 : 8;
  const int code = MPI_Bcast(data.data(), count, MPI_INT, 0, comm.get());
  EXPECT_EQ(class_of(code), comm.rank() == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
}

/// A root may be calls ahead of those that disagree with it. As many calls fail on the others, and then the MPI goes
/// on.
class Disagreement : public Errors {
 protected:
  void SetUp() override {
    Errors::SetUp();
    if (IsSkipped()) return;
    if (comm.size() < 2) GTEST_SKIP() << "one rank";
    for (const int count : {comm.rank() == 0 ? 4 : 8, 4, 4})
      expect_success_on_root(MPI_Bcast(data.data(), count, MPI_INT, 0, comm.get()));
  }
  void expect_success_on_root(int code) const {
    EXPECT_EQ(class_of(code), comm.rank() == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
  }
  /// By the MPI.
  void expect_success() const {
    const std::uint64_t before = calls_through_library();
    const int one = 1;
    int sum = 0;
    EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
    EXPECT_EQ(sum, comm.size());
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get(), &request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(sum, comm.size());
    EXPECT_EQ(calls_through_library(), before);
  }
};

TEST_F(Disagreement, LeavesTheNextCallOfAllRanksToTheMpi) {
  int parts[] = {1, 2};
  int sums[] = {0, 0};
  EXPECT_EQ(MPI_Allreduce(parts, sums, 2, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(sums[1], 2 * comm.size());
  expect_success();
}

TEST_F(Disagreement, FailsACallInPlaceWhoseDataMayBeHalfDone) {
  EXPECT_EQ(class_of(MPI_Allreduce(MPI_IN_PLACE, data.data(), 1, MPI_INT, MPI_SUM, comm.get())), MPI_ERR_TRUNCATE);
  expect_success();
}

TEST_F(Disagreement, FailsOutstandingCalls) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Ibarrier(comm.get(), &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  expect_success();
}

TEST(Communicators, CopyNoAttribute) {
  const ReversedWorld comm;
  int copies = 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(
      [](MPI_Comm, int, void* extra, void*, void*, int* flag) -> int {  // MPI_SUCCESS may be an enumerator
        ++*static_cast<int*>(extra);
        *flag = 0;
        return MPI_SUCCESS;
      },
      MPI_COMM_NULL_DELETE_FN, &key, &copies);
  MPI_Comm_set_attr(comm.get(), key, &copies);
  MPI_Barrier(comm.get());
  EXPECT_EQ(copies, 0);
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(comm.get(), &dup);
  EXPECT_EQ(copies, 1);
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(comm.get(), key);
  MPI_Comm_free_keyval(&key);
}

TEST(Communicators, ComeAndGo) {
  const ReversedWorld comm;
  for (int i = 0; i < 200; ++i) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm.get(), comm.rank() % 2, i % 2 == 0 ? comm.rank() : -comm.rank(), &part);
    int size = 0;
    MPI_Comm_size(part, &size);
    int one = 1;
    int sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
    ASSERT_EQ(sum, size);
    MPI_Comm_free(&part);
  }
}

TEST(Communicators, BetweenTwoGroupsAreTheMpis) {
  const ReversedWorld comm;
  if (comm.size() < 2) GTEST_SKIP() << "one rank";
  const int color = comm.rank() % 2;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_split(comm.get(), color, comm.rank(), &half);
  MPI_Intercomm_create(half, 0, comm.get(), 1 - color, 9, &inter);
  int one = 1;
  int sum = 0;
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  EXPECT_EQ(sum, others);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST(Threads, UseCommunicatorsOfTheirOwnAndWaitForEachOther) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI_THREAD_MULTIPLE was not asked for";
  const ReversedWorld first;
  const ReversedWorld second;
  MPI_Barrier(first.get());
  int one = 1;
  int waited = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &waited, 1, MPI_INT, MPI_SUM, first.get(), &request);
  std::thread waiter([&request] { MPI_Wait(&request, MPI_STATUS_IGNORE); });  // beside calls on its communicator
  std::thread other([&second] {
    for (int i = 0; i < 300; ++i) {
      int part = i;
      int sum = 0;
      MPI_Allreduce(&part, &sum, 1, MPI_INT, MPI_SUM, second.get());
      EXPECT_EQ(sum, i * second.size());
    }
  });
  for (int i = 0; i < 300; ++i) {
    int sum = 0;
    MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, first.get());
    EXPECT_EQ(sum, i * first.size());
  }
  waiter.join();
  other.join();
  EXPECT_EQ(waited, first.size());
}

/// Rank 0: one thread is in a barrier, which the others reach after a message that another thread sends once its own
/// call of that communicator has ended.
TEST(Threads, EndACallWhileAnotherIsInABarrierOfItsCommunicator) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI_THREAD_MULTIPLE was not asked for";
  const ReversedWorld comm;
  const ReversedWorld messages;
  MPI_Barrier(comm.get());
  int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get(), &request);
  int word = 0;
  if (comm.rank() == 0) {
    std::thread in_barrier([&comm] { MPI_Barrier(comm.get()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 1; r < comm.size(); ++r) MPI_Send(&one, 1, MPI_INT, r, 3, messages.get());
    in_barrier.join();
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&word, 1, MPI_INT, 0, 3, messages.get(), MPI_STATUS_IGNORE);
    MPI_Barrier(comm.get());
  }
  EXPECT_EQ(sum, comm.size());
}

}  // namespace
}  // namespace tutti::test
