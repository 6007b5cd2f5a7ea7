// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made, used and freed in a loop have the library's side only if they live as long as it takes
// to make one. Here that is long: the library asks the MPI for a communicator, by functions that lie before the MPI's
// own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>

#include "preload/world.hpp"

namespace tutti::test {
namespace {

constexpr double pause = 0.02;
bool is_slow = false;
double paused = 0;

template <typename Function>
Function* slowed(Function* /*own*/, const char* name) {
  const double begin = MPI_Wtime();
  if (is_slow) std::this_thread::sleep_for(std::chrono::duration<double>(pause));
  paused += is_slow ? MPI_Wtime() - begin : 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): a function by its name
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace tutti::test

extern "C" {

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return tutti::test::slowed(&PMPI_Comm_create, "PMPI_Comm_create")(comm, group, made);
}

#if MPI_VERSION >= 4
int PMPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler handler,
                                MPI_Comm* made) {
  return tutti::test::slowed(&PMPI_Comm_create_from_group, "PMPI_Comm_create_from_group")(group, tag, info, handler,
                                                                                          made);
}
#endif
}

namespace tutti::test {
namespace {

/// How old a communicator is, without the pauses, when the library has its side of it; infinity if it makes none in so
/// many calls.
double age_of_side(MPI_Comm comm, int calls) {
  const double begin = MPI_Wtime() - paused;
  const std::uint64_t before = calls_through_library();
  for (int i = 0; i < calls; ++i) {
    MPI_Barrier(comm);
    if (calls_through_library() > before) return MPI_Wtime() - paused - begin;
  }
  return std::numeric_limits<double>::infinity();
}

class PriceOfSides : public testing::Test {
 protected:
  void SetUp() override {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) GTEST_SKIP() << "one rank: all calls are the MPI's";
    is_slow = true;
    for (int i = 0; i < 2; ++i) const ReversedWorld two_that_tell_the_price;
    if (paused < 2 * pause) GTEST_SKIP() << "the library calls other functions of the MPI";
  }
  void TearDown() override { is_slow = false; }
};

TEST_F(PriceOfSides, IsPaidByThoseAloneThatLiveAsLong) {
  for (int i = 0; i < 6; ++i) {
    MPI_Comm comm = new_communicator();
    EXPECT_GE(age_of_side(comm, 2 * first_calls), 2 * pause) << "communicator " << i;
    MPI_Comm_free(&comm);
  }
}

TEST_F(PriceOfSides, IsPaidInTheEnd) {
  MPI_Comm comm = new_communicator();
  const double age = age_of_side(comm, most_calls_for_side);
  EXPECT_TRUE(std::isfinite(age));
  EXPECT_GE(age, 2 * pause);
  MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace tutti::test
