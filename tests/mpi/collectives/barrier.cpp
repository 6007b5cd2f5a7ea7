// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <tutti/collectives/barrier.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

/// Counters that all ranks see, zero at the start; the test runs on one node.
std::int64_t* shared_counters(std::size_t count) {
  static std::int64_t* memory = nullptr;
  if (memory != nullptr) return memory;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(count * sizeof(std::int64_t)) : 0, sizeof(std::int64_t),
                          MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, static_cast<void*>(&memory));
  if (rank == 0) std::fill_n(memory, count, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  return memory;
}

TEST(Barrier, NobodyLeavesBeforeTheLastHasCome) {
  constexpr std::size_t most = 4096;
  std::int64_t* counters = shared_counters(most);
  std::size_t next = 0;
  for_each_case(Operation::barrier, [&](const Case& c) {
    // The two halves of the ranks run at the same time: each has its own counter.
    const std::size_t part =
        &c.comm == &communicators().back() ? static_cast<std::size_t>(c.comm.topology().places.size()) : 0;
    int world_rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    const std::size_t cell = 2 * next++ + (part != 0 ? static_cast<std::size_t>(world_rank % 2) : 0);
    ASSERT_LT(cell, most);
    std::atomic_ref<std::int64_t> counter(counters[cell]);
    exercise(
        c.mode, [&] { barrier(c.comm, c.options); }, [&] { return ibarrier(c.comm, c.options); },
        [&] { return barrier_init(c.comm, c.options); }, [&](int) { counter.fetch_add(1); },
        [&](int i) { EXPECT_GE(counter.load(), static_cast<std::int64_t>(c.size) * (i + 1)) << c.describe(); });
  });
}

}  // namespace
}  // namespace tutti::test
