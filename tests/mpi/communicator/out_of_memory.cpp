// SPDX-License-Identifier: BSD-3-Clause
// Memory that runs out while calls progress.
#include <gtest/gtest.h>
#include <mpi.h>

#include <new>
#include <tutti/tutti.hpp>
#include <vector>

#include "support/heap.hpp"
#include "support/world.hpp"

namespace tutti::test {
namespace {

// Rank 0 has no memory while its calls end: they end all the same, and no other rank waits for it.
TEST(OutOfMemory, CallsEndWithoutMemory) {
  constexpr std::size_t calls = 40;  // more than a poll takes off its list
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<std::vector<int>> x(calls, std::vector<int>(50));
  std::vector<Request> requests;
  // Those of even number are messages, if there is another rank.
  Options ring;
  ring.algorithm = "ring";
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < calls; ++i) x[i].assign(50, comm.rank() + static_cast<int>(i) + round);
    requests.clear();
    requests.reserve(calls);
    // Others come later, so that the calls of rank 0 are outstanding.
    if (comm.rank() > 0) MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; i < calls; ++i)
      requests.push_back(iallreduce(comm, x[i], sum, i % 2 == 0 ? ring : Options{}));
    if (comm.rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank() == 0) allow_allocations(0);
    try {
      for (auto& request : requests)
        while (!request.test()) progress();
      (void)allow_all_allocations();
    } catch (const std::bad_alloc&) {
      (void)allow_all_allocations();
      ADD_FAILURE() << "progress() threw";
    }
    for (auto& request : requests) request.wait();
    const int n = comm.size();
    for (std::size_t i = 0; i < calls; ++i)
      ASSERT_EQ(x[i], std::vector<int>(50, n * (static_cast<int>(i) + round) + n * (n - 1) / 2)) << i;
  }
}

}  // namespace
}  // namespace tutti::test
