// SPDX-License-Identifier: BSD-3-Clause
// Requests of collectives beside those of messages, in every function of MPI that completes requests.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "preload/forms.hpp"
#include "preload/world.hpp"

namespace tutti::test {
namespace {

/// Two collectives and a message to oneself, all under way.
class Requests : public testing::Test {
 protected:
  void SetUp() override {
    before = calls_through_library();
    MPI_Irecv(&received, 1, MPI_INT, comm.rank(), 5, comm.get(), &requests[0]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get(), &requests[1]);
    MPI_Isend(&sent, 1, MPI_INT, comm.rank(), 5, comm.get(), &requests[2]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, comm.get(), &requests[4]);
  }
  void expect_results() {
    EXPECT_EQ(received, 42 + comm.rank());
    EXPECT_EQ(sum, comm.size());
    EXPECT_EQ(word, 7);
    for (const MPI_Request request : requests) EXPECT_EQ(request, MPI_REQUEST_NULL);
    if (comm.size() > 1) {
      EXPECT_EQ(calls_through_library() - before, is_behind_tool_that_asks() ? 0U : 2U);
    }
  }
  ReversedWorld comm{};
  int received = 0;
  int sent = 42 + comm.rank();
  int one = 1;
  int sum = 0;
  int word = comm.rank() == 0 ? 7 : 0;
  std::uint64_t before = 0;
  static constexpr int number = 5;
  std::array<MPI_Request, number> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                                           MPI_REQUEST_NULL};
};

TEST_F(Requests, Wait) {
  for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_results();
}

TEST_F(Requests, Waitall) {
  std::array<MPI_Status, number> statuses{};
  MPI_Waitall(number, requests.data(), statuses.data());
  EXPECT_EQ(statuses[0].MPI_TAG, 5);
  int bytes = -1;
  MPI_Get_count(&statuses[1], MPI_BYTE, &bytes);
  EXPECT_TRUE(bytes == 0 || is_behind_tool_that_asks()) << bytes;  // the MPI says what it likes
  int cancelled = 1;
  MPI_Test_cancelled(&statuses[4], &cancelled);
  EXPECT_EQ(cancelled, 0);
  expect_results();
}

TEST_F(Requests, Waitany) {
  std::vector<int> indices;
  for (int index = 0; index != MPI_UNDEFINED; indices.push_back(index))
    MPI_Waitany(number, requests.data(), &index, MPI_STATUS_IGNORE);
  EXPECT_EQ(indices.size(), 5U);  // the last one is MPI_UNDEFINED
  expect_results();
}

TEST_F(Requests, Waitsome) {
  std::array<int, number> indices{};
  int done = 0;
  for (int some = 0; some != MPI_UNDEFINED; done += some == MPI_UNDEFINED ? 0 : some)
    MPI_Waitsome(number, requests.data(), &some, indices.data(), MPI_STATUSES_IGNORE);
  EXPECT_EQ(done, 4);
  expect_results();
}

TEST_F(Requests, Test) {
  for (MPI_Request& request : requests)
    for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  expect_results();
}

TEST_F(Requests, Testall) {
  for (int flag = 0; flag == 0;) MPI_Testall(number, requests.data(), &flag, MPI_STATUSES_IGNORE);
  expect_results();
}

TEST_F(Requests, Testany) {
  for (int done = 0; done < 4;) {
    int index = 0;
    int flag = 0;
    MPI_Testany(number, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
    done += flag;
  }
  expect_results();
}

TEST_F(Requests, Testsome) {
  std::array<int, number> indices{};
  for (int done = 0; done < 4;) {
    int some = 0;
    MPI_Testsome(number, requests.data(), &some, indices.data(), MPI_STATUSES_IGNORE);
    done += some;
  }
  expect_results();
}

TEST_F(Requests, RequestGetStatus) {
  for (MPI_Request request : requests)
    for (int flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, comm.size());
  for (MPI_Request& request : requests) EXPECT_EQ(request == MPI_REQUEST_NULL, &request == &requests[3]);
  MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
  expect_results();
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
// With the ABI of MPI 5 the host MPI may be an older one.
class StatusOfSeveral : public Requests {
 protected:
  void SetUp() override {
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    if (10 * version + subversion < 41) GTEST_SKIP() << "this MPI lacks the functions of MPI 4.1";
    Requests::SetUp();
  }
  void end() {
    EXPECT_EQ(sum, comm.size());
    MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
    expect_results();
  }
};

TEST_F(StatusOfSeveral, All) {
  for (int flag = 0; flag == 0;) MPI_Request_get_status_all(number, requests.data(), &flag, MPI_STATUSES_IGNORE);
  end();
}

TEST_F(StatusOfSeveral, Any) {
  for (int index = 0, flag = 0; flag == 0;)
    MPI_Request_get_status_any(1, &requests[1], &index, &flag, MPI_STATUS_IGNORE);
  end();
}

// MPICH 5.0.2 makes no progress here once one of several requests is complete.
TEST_F(StatusOfSeveral, Some) {
  int index = -1;
  for (int some = 0; some < 1;) MPI_Request_get_status_some(1, &requests[1], &some, &index, MPI_STATUSES_IGNORE);
  EXPECT_EQ(index, 0);
  end();
}
#endif

TEST(OutstandingCalls, EndInAnotherOrderThanTheyBegan) {
  const ReversedWorld comm;
  MPI_Barrier(comm.get());
  constexpr int number = 40;
  std::vector<int> sums(number);
  std::vector<int> parts(number);
  std::vector<MPI_Request> requests(number);
  for (int i = 0; i < number; ++i) {
    const auto at = static_cast<std::size_t>(i);
    parts[at] = comm.rank() + i;
    MPI_Iallreduce(&parts[at], &sums[at], 1, MPI_INT, MPI_SUM, comm.get(), &requests[at]);
  }
  for (int i = number - 1; i >= 0; --i) MPI_Wait(&requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE);
  for (int i = 0; i < number; ++i)
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], comm.size() * (comm.size() - 1) / 2 + comm.size() * i);
}

TEST(OutstandingCalls, LetAMessageThroughBetweenStartAndWait) {
  const ReversedWorld comm;
  MPI_Barrier(comm.get());
  std::vector<double> mine(100000, 1.0);
  std::vector<double> sum(100000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(mine.data(), sum.data(), 100000, MPI_DOUBLE, MPI_SUM, comm.get(), &request);
  const int last = comm.size() - 1;
  int word = comm.rank() == 0 ? 5 : 0;
  if (comm.rank() == last && last > 0) MPI_Recv(&word, 1, MPI_INT, 0, 1, comm.get(), MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (comm.rank() == 0 && last > 0) MPI_Send(&word, 1, MPI_INT, last, 1, comm.get());
  EXPECT_EQ(sum[99999], comm.size());
  if (comm.rank() == last) {
    EXPECT_EQ(word, 5);
  }
}

TEST(OutstandingCalls, OutliveTheirCommunicatorAndTheirOperation) {
  ReversedWorld world;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(world.get(), &comm);
  make_side(comm);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
      },
      1, &op);
  int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, comm, &request);
  MPI_Op_free(&op);
  EXPECT_EQ(op, MPI_OP_NULL);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(sum, world.size());
}

TEST(Windows, AreDoneAfterABarrier) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) GTEST_SKIP() << "one rank";
  std::vector<int> words(64);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(words.data(), 64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group first = MPI_GROUP_NULL;
  MPI_Group second = MPI_GROUP_NULL;
  const int ranks[] = {0, 1};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &ranks[0], &first);
  MPI_Group_incl(all, 1, &ranks[1], &second);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 1; round < 4; ++round) {
    if (rank == 0) MPI_Win_post(second, 0, window);
    if (rank == 1) {
      MPI_Win_start(first, 0, window);
      MPI_Put(&round, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      MPI_Win_complete(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) continue;
    int flag = 0;
    MPI_Win_test(window, &flag);
    EXPECT_EQ(flag, 1) << "round " << round;
    if (flag == 0) MPI_Win_wait(window);
    EXPECT_EQ(words[0], round);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&first);
  MPI_Group_free(&second);
  MPI_Win_free(&window);
}

#if TUTTI_TEST_HAS_PERSISTENT
/// MPICH 4.0.2's own calls are right once, and in functions that complete one request.
TEST(PersistentCalls, EndBehindATool) {
  const ReversedWorld comm;
  int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get(), MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  EXPECT_EQ(sum, comm.size());
}

TEST(PersistentCalls, StartInAnyOrder) {
  const ReversedWorld comm;
  int word = 0;
  int one = 1;
  int sum = 0;
  int received = 0;
  const std::uint64_t before = calls_through_library();
  std::array<MPI_Request, 3> requests{};
  MPI_Bcast_init(&word, 1, MPI_INT, 0, comm.get(), MPI_INFO_NULL, &requests[0]);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get(), MPI_INFO_NULL, &requests[1]);
  MPI_Recv_init(&received, 1, MPI_INT, comm.rank(), 3, comm.get(), &requests[2]);
  for (int round = 1; round < 6; ++round) {
    word = comm.rank() == 0 ? round : 0;
    one = round;
    if ((round + comm.rank()) % 2 == 0) {
      MPI_Startall(3, requests.data());
    } else {
      for (int i = 2; i >= 0; --i) MPI_Start(&requests[static_cast<std::size_t>(i)]);
    }
    MPI_Send(&round, 1, MPI_INT, comm.rank(), 3, comm.get());
    if (round % 2 == 0) {
      MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
    } else {
      for (int flag = 0; flag == 0;) MPI_Testall(3, requests.data(), &flag, MPI_STATUSES_IGNORE);
    }
    EXPECT_EQ(word, round);
    EXPECT_EQ(sum, round * comm.size());
    EXPECT_EQ(received, round);
    for (const MPI_Request request : requests) EXPECT_NE(request, MPI_REQUEST_NULL);
  }
  for (MPI_Request& request : requests) {
    int flag = 0;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(flag, 1) << "an inactive request is done";
    MPI_Request_free(&request);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  }
  if (comm.size() > 1) {
    EXPECT_EQ(calls_through_library() - before, 2U);
  }
}
#endif

}  // namespace
}  // namespace tutti::test
