// SPDX-License-Identifier: BSD-3-Clause
// An element of a datatype with more bytes than an int counts.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include <cstddef>

#include "preload/world.hpp"
#include "support/free_memory.hpp"

namespace tutti::test {
namespace {

bool has_memory_on_all(MPI_Comm comm) {
  int is_enough = has_free_memory(9) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &is_enough, 1, MPI_INT, MPI_MIN, comm);
  return is_enough != 0;
}

/// Two blocks with a gap between them. The root writes few pages, so that most of its data have no memory of their own.
TEST(LargeElement, OfTwoBlocks) {
  const ReversedWorld comm;
  if (comm.size() != 2) GTEST_SKIP() << "of two ranks";
  if (!has_memory_on_all(comm.get())) GTEST_SKIP() << "needs 9 GiB of free memory";
  constexpr int block = (1 << 28) + 3;
  constexpr int gap = 1;
  constexpr std::size_t bytes = (std::size_t{2} * block + gap) * sizeof(int);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const data = static_cast<int*>(memory);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, block, block + gap, MPI_INT, &type);
  MPI_Type_commit(&type);
  constexpr int places[] = {0, block - 1, block + gap, 2 * block + gap - 1};
  for (const int i : places) data[i] = comm.rank() == 1 ? i + 5 : 0;
  data[block] = -1;
  const std::uint64_t before = calls_through_library();
  EXPECT_EQ(MPI_Bcast(data, 1, type, 1, comm.get()), MPI_SUCCESS);
  EXPECT_GT(calls_through_library(), before);
  for (const int i : places) EXPECT_EQ(data[i], i + 5);
  EXPECT_EQ(data[block], -1);
  MPI_Type_free(&type);
  munmap(memory, bytes);
}

}  // namespace
}  // namespace tutti::test
