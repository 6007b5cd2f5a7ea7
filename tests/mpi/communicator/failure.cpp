// SPDX-License-Identifier: BSD-3-Clause
// What happens when a rank does not come, or gives up: a named error in time, never a hang.
#include <gtest/gtest.h>
#include <mpi.h>

#include <thread>
#include <tutti/tutti.hpp>

#include "support/meet.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

template <typename Call>
void expect_failure(ErrorCode code, const char* word, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

TEST(Timeout, OfTheCallNamesTheOperation) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  std::vector<float> data(100, 1.0F);
  if (world_rank() == 0) {
    Options options;
    options.timeout = 200ms;
    const auto begin = std::chrono::steady_clock::now();
    expect_failure(ErrorCode::timeout, "allreduce", [&] { allreduce(comm, data, sum, options); });
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    // The order of messages is in doubt now: later collectives say so instead of giving wrong results.
    expect_failure(ErrorCode::invalid_communicator, "earlier", [&] { barrier(comm); });
  }
  meet();
}

TEST(Timeout, OfTheCommunicatorHoldsForNonblockingAndPointToPoint) {
  CommunicatorOptions options;
  options.timeout = 200ms;
  options.name = "impatient";
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  if (world_rank() == 0) {
    int x = 0;
    expect_failure(ErrorCode::timeout, "impatient", [&] { recv(comm, Buffer(&x, 1), 1); });
    std::vector<float> data(100, 1.0F);
    Request request = iallreduce(comm, data, sum);
    expect_failure(ErrorCode::timeout, "impatient", [&] { request.wait(); });
    EXPECT_EQ(request.error(), ErrorCode::timeout);
    EXPECT_FALSE(request.valid());
  }
  meet();
}

TEST(Timeout, LaterCommunicatorGetsNoneOfTheFailedOnesMessages) {
  {
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    std::vector<int> data(16, -1'000);
    Options options;
    options.timeout = 100ms;
    if (comm.size() > 1 && comm.rank() == 0)
      expect_failure(ErrorCode::timeout, "allreduce", [&] { allreduce(comm, data, sum, options); });
    meet();
  }
  for (int round = 0; round < 3; ++round) {
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    std::vector<int> data(16, 1);
    allreduce(comm, data, sum);
    EXPECT_EQ(data, std::vector<int>(16, comm.size()));
  }
}

TEST(Timeout, LongestOfAllNeverExpires) {
  CommunicatorOptions options;
  options.timeout = std::chrono::nanoseconds::max();
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  if (comm.rank() == 0) std::this_thread::sleep_for(50ms);
  std::vector<int> data(1000, 1);
  allreduce(comm, data, sum);
  EXPECT_EQ(data[999], comm.size());
}

TEST(Abort, FromAnotherThreadEndsAWait) {
  Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  if (world_rank() == 0) {
    std::thread other([&comm] {
      std::this_thread::sleep_for(100ms);
      comm.abort("the solver diverged");
    });
    std::vector<double> data(10, 1.0);
    expect_failure(ErrorCode::aborted, "the solver diverged", [&] { allreduce(comm, data, sum); });
    other.join();
    expect_failure(ErrorCode::aborted, "the solver diverged", [&] { barrier(comm); });
  }
  meet();
}

TEST(Abort, WithoutAReasonSaysSo) {
  Communicator comm = Communicator::duplicate(MPI_COMM_SELF);
  comm.abort();
  expect_failure(ErrorCode::aborted, "no reason given", [&] { barrier(comm); });
}

}  // namespace
}  // namespace tutti::test
