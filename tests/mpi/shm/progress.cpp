// SPDX-License-Identifier: BSD-3-Clause
// Legal MPI programs in which one rank is inside the host MPI while others need what it gave to Tutti before.
#include <tutti/request.hpp>

#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators().front(); }

constexpr std::size_t mebibytes_8 = std::size_t{8} << 20U;

class LargeSend : public ::testing::TestWithParam<std::size_t> {};

// The send of rank 0 completes while it is in a blocking call of Tutti.
TEST_P(LargeSend, OfTheHostGoesOnInABlockingCall) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const Operation operation : {Operation::barrier, Operation::allreduce, Operation::bcast, Operation::alltoallv}) {
    std::vector<char> message(GetParam());
    // Rank 1 gives what rank 0 waits for.
    Work work(world(), operation, 100'000, 1);
    work.fill(0);
    if (world().rank() == 0) {
      std::fill(message.begin(), message.end(), 'x');
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 1, 9, world().mpi_handle(), &request);
      work.run();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      if (world().rank() == 1)
        MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, 9, world().mpi_handle(),
                 MPI_STATUS_IGNORE);
      work.run();
    }
    work.verify("after a large send");
    EXPECT_EQ(message.back(), world().rank() < 2 ? 'x' : '\0');
    barrier(world());
  }
}

INSTANTIATE_TEST_SUITE_P(Progress, LargeSend, ::testing::Values(4, mebibytes_8));

struct Away {
  Operation operation;
  std::size_t bytes;
};

class NonblockingCall : public ::testing::TestWithParam<Away> {};

// Rank 0 starts its part and blocks in the host MPI; the others finish theirs, and the whole, without it.
TEST_P(NonblockingCall, GoesOnWhileARankIsInTheHostMpi) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const int root : {0, 1}) {
    Work work(world(), GetParam().operation, GetParam().bytes / sizeof(Work::Element), root);
    work.fill(root);
    Request request = work.start();
    int token = 0;
    if (world().rank() == 0) {
      MPI_Recv(&token, 1, MPI_INT, 1, 9, world().mpi_handle(), MPI_STATUS_IGNORE);
      request.wait();
    } else {
      request.wait();
      if (world().rank() == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, world().mpi_handle());
    }
    work.verify("one rank away");
  }
}

// The same, persistent.
TEST_P(NonblockingCall, GoesOnAlsoWhenPersistent) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Work work(world(), GetParam().operation, GetParam().bytes / sizeof(Work::Element), 1);
  Request request = work.prepare();
  for (int round = 0; round < 2; ++round) {
    work.fill(round);
    request.start();
    int token = 0;
    if (world().rank() == 0) {
      MPI_Recv(&token, 1, MPI_INT, 1, 9, world().mpi_handle(), MPI_STATUS_IGNORE);
      request.wait();
    } else {
      request.wait();
      if (world().rank() == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, world().mpi_handle());
    }
    work.verify("one rank away");
  }
}

std::vector<Away> cases() {
  std::vector<Away> all;
  for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::alltoall, Operation::bcast,
                                    Operation::reduce, Operation::alltoallv, Operation::scan, Operation::gather})
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{32} << 10U, mebibytes_8})
      all.push_back({operation, bytes});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Progress, NonblockingCall, ::testing::ValuesIn(cases()), [](const auto& test) {
  return std::string(schedules::operation_name(test.param.operation)) + "_" + std::to_string(test.param.bytes);
});

}  // namespace
}  // namespace tutti::test
