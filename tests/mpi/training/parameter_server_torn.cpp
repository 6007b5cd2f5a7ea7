// SPDX-License-Identifier: BSD-3-Clause
// A push that comes in the middle of another rank's MPI_Get of the row.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <tutti/tutti.hpp>
#include <utility>
#include <vector>

namespace {

/// Called once, inside the next MPI_Rget of this rank.
std::function<void()> in_the_middle;

}  // namespace

/// The library's calls come here first: the linker takes a program's own functions before those of a library.
extern "C" int MPI_Rget(void* origin, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
                        MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  if (!in_the_middle) return PMPI_Rget(origin, count, type, target, place, target_count, target_type, window, request);
  // The first half as it is before, the second as it is after.
  const auto half = static_cast<std::size_t>(count) / 2;
  std::vector<float> before(static_cast<std::size_t>(count));
  MPI_Request first = MPI_REQUEST_NULL;
  PMPI_Rget(before.data(), count, type, target, place, target_count, target_type, window, &first);
  PMPI_Wait(&first, MPI_STATUS_IGNORE);
  std::exchange(in_the_middle, nullptr)();
  PMPI_Rget(origin, count, type, target, place, target_count, target_type, window, &first);
  PMPI_Wait(&first, MPI_STATUS_IGNORE);
  std::copy_n(before.begin(), half, static_cast<float*>(origin));
  // Done already: any request that is complete will do.
  return PMPI_Rget(before.data(), 0, type, target, 0, 0, type, window, request);
}

namespace {

using namespace tutti;

TEST(TornRow, IsReadAgain) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  constexpr std::size_t dim = 64;
  constexpr int go = 1;
  constexpr int done = 2;
  ParameterServerOptions options;
  options.direct = false;
  ParameterServer server(comm, 1, dim, options);
  const std::vector<std::int64_t> row{0};
  if (comm.rank() == 0) {
    bool was_called = false;
    in_the_middle = [&] {
      was_called = true;
      MPI_Send(nullptr, 0, MPI_INT, 1, go, MPI_COMM_WORLD);
      MPI_Recv(nullptr, 0, MPI_INT, 1, done, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };
    std::vector<float> values(dim, 7.0F);
    server.pull(row, values);
    EXPECT_TRUE(was_called);
    EXPECT_EQ(values, std::vector<float>(dim, 1.0F)) << "half of the row is from before the push";
  } else if (comm.rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    server.push(row, std::vector<float>(dim, -1.0F), 1.0F);
    MPI_Send(nullptr, 0, MPI_INT, 0, done, MPI_COMM_WORLD);
  }
  server.fence();
}

}  // namespace
