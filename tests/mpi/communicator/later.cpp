// SPDX-License-Identifier: BSD-3-Clause
// Communicators after the first of the same processes: they share its segment, in any order of ends, and one that a
// rank cannot make is an error on every rank.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <random>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"
#include "support/shared_names.hpp"
#include "support/world.hpp"

namespace tutti::test {
namespace {

bool refuses_communicators = false;
bool refuses_pages = false;
int pages_refused = 0;
/// Of all ranks: Linux before 5.14.
const bool kernel_is_old = std::getenv("TUTTI_TEST_OLD_KERNEL") != nullptr;

}  // namespace
}  // namespace tutti::test

// The program's own functions are found before the host MPI's and the C library's.
#if MPI_VERSION >= 4
extern "C" int MPI_Comm_create_from_group(MPI_Group group, const char* tag, MPI_Info info, MPI_Errhandler errors,
                                          MPI_Comm* made) {
  const int code = PMPI_Comm_create_from_group(group, tag, info, errors, made);
  if (!tutti::test::refuses_communicators || code != MPI_SUCCESS) return code;
  PMPI_Comm_free(made);
  return MPI_ERR_OTHER;
}
#endif

extern "C" int madvise(void* address, size_t bytes, int advice) noexcept {
  using Function = int (*)(void*, size_t, int);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "madvise"));
  constexpr int populate_write = 23;
  if (tutti::test::kernel_is_old && advice == populate_write) {
    errno = EINVAL;
    return -1;
  }
  if (tutti::test::refuses_pages && advice == populate_write && bytes > 0) {
    ++tutti::test::pages_refused;
    errno = ENOMEM;
    return -1;
  }
  return next(address, bytes, advice);
}

namespace tutti::test {
namespace {

bool is_last_rank() { return world().rank() == world().size() - 1; }

bool shares_memory(const Communicator& comm) { return comm.state()->machine().shared_memory; }

/// Numbers that no other call has, so that data of an earlier communicator are seen.
void expect_sums(const Communicator& comm, int salt, std::size_t count, const Options& options = {}) {
  const int n = comm.size();
  std::vector<int> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = salt + static_cast<int>(i) + comm.rank();
  allreduce(comm, x, sum, options);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(x[i], n * (salt + static_cast<int>(i)) + n * (n - 1) / 2) << "salt " << salt << ", element " << i;
}

/// Short calls, calls by slots and between buffers, and a persistent call: all that takes memory of an arena.
void use_all(const Communicator& comm, int salt) {
  Options slots;
  if (shares_memory(comm)) slots.algorithm = "shm:slots";
  for (int k = 0; k < 1 + salt % 15; ++k) expect_sums(comm, salt + k, 3);
  if (salt % 3 == 0) expect_sums(comm, salt, 5'000, slots);
  if (salt % 4 == 0) expect_sums(comm, salt, 40'000);
  if (salt % 5 != 0) return;
  std::vector<int> x(7, salt + comm.rank());
  std::vector<int> y(7);
  Request request = allreduce_init(comm, std::span<const int>(x), y, sum);
  for (int k = 0; k < 3; ++k) {
    x.assign(x.size(), salt + k + comm.rank());
    request.start();
    request.wait();
    ASSERT_EQ(y, std::vector<int>(7, comm.size() * (salt + k) + comm.size() * (comm.size() - 1) / 2));
  }
}

TEST(LaterCommunicators, MakeNoSegment) {
  (void)world();
  std::optional<Communicator> first = Communicator::borrow(MPI_COMM_WORLD);
  if (!shares_memory(*first)) GTEST_SKIP() << "needs shared memory";
  {  // A rank may still end the one before when the next is made.
    std::vector<Communicator> room;
    for (int i = 0; i < 3; ++i) room.push_back(Communicator::borrow(MPI_COMM_WORLD));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const std::size_t made = names_made().size();
  const int times = world().topology().oversubscribed ? 15 : 50;
  for (int i = 0; i < times; ++i) use_all(Communicator::borrow(MPI_COMM_WORLD), i);
  first.reset();
  for (int i = 0; i < times; ++i) use_all(Communicator::duplicate(MPI_COMM_WORLD), i);
  if (kernel_is_old) {
    EXPECT_EQ(names_made().size(), made + static_cast<std::size_t>(world().rank() == 0 ? 2 * times : 0))
        << "pages cannot be reserved again";
    return;
  }
  EXPECT_EQ(names_made().size(), made);
  // Measurements that are out of date are found out again, but the segments stay.
  ::unsetenv("TUTTI_TUNING");
  use_all(Communicator::borrow(MPI_COMM_WORLD), 3);
  ::setenv("TUTTI_TUNING", "off", 1);
  use_all(Communicator::borrow(MPI_COMM_WORLD), 4);
  EXPECT_EQ(names_made().size(), made);
  // Segments double, so that few are made.
  std::vector<Communicator> many;
  for (int i = 0; i < 60; ++i) many.push_back(Communicator::borrow(MPI_COMM_WORLD));
  EXPECT_LE(names_made().size(), made + 8);
  for (int i = 0; i < 60; i += 60 / times) use_all(many[static_cast<std::size_t>(i)], 7 * i);
}

// The ranks make communicators in the same order and end them in different ones.
TEST(LaterCommunicators, EndInAnyOrder) {
  std::mt19937 same(3);
  std::mt19937 own(static_cast<unsigned>(world().rank()) + 1);
  std::vector<Communicator> live;
  const int rounds = world().topology().oversubscribed ? 7 : 12;
  for (int round = 0; round < rounds; ++round) {
    const auto more = 1 + same() % 9;
    for (unsigned i = 0; i < more; ++i) live.push_back(Communicator::borrow(MPI_COMM_WORLD));
    for (std::size_t i = 0; i < live.size(); ++i) use_all(live[i], 100 * round + static_cast<int>(i));
    std::vector<std::size_t> ended(live.size());
    for (std::size_t i = 0; i < ended.size(); ++i) ended[i] = i;
    std::shuffle(ended.begin(), ended.end(), same);
    ended.resize(round == 5 ? ended.size() : same() % ended.size());
    std::shuffle(ended.begin(), ended.end(), own);
    std::vector<char> is_ended(live.size(), 0);
    for (const std::size_t i : ended) {
      live[i] = Communicator();
      is_ended[i] = 1;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < live.size(); ++i)
      if (is_ended[i] == 0) std::swap(live[kept++], live[i]);
    live.resize(kept);
  }
}

// Other processes' communicators come between, and the same processes in another order have places of their own.
TEST(LaterCommunicators, OfOtherProcessesHaveTheirOwn) {
  const int rank = world().rank();
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
  for (int i = 0; i < 6; ++i) {
    const Communicator a = Communicator::borrow(MPI_COMM_WORLD);
    const Communicator b = Communicator::borrow(turned);
    const Communicator c = Communicator::borrow(part);
    use_all(a, 30 + i);
    use_all(b, 60 + i);
    use_all(c, 90 + i);
    use_all(a, 120 + i);
  }
  MPI_Comm_free(&turned);
  MPI_Comm_free(&part);
}

// The last rank has no context left, or so the host MPI says there: nobody waits for it.
TEST(LaterCommunicators, OneThatARankCannotMakeIsAnErrorOnAll) {
#ifndef MPICH_VERSION
  GTEST_SKIP() << "the way in which communicators are made of groups by MPICH";
#endif
  if (!shares_memory(world()) || kernel_is_old) GTEST_SKIP() << "needs shared memory and Linux 5.14";
  const Communicator first = Communicator::borrow(MPI_COMM_WORLD);
  (void)Communicator::borrow(MPI_COMM_WORLD);
  for (int i = 0; i < 20; ++i) {
    refuses_communicators = is_last_rank();
    try {
      (void)Communicator::borrow(MPI_COMM_WORLD);
      refuses_communicators = false;
      ADD_FAILURE() << "made without a part on the last rank";
    } catch (const Error& e) {
      refuses_communicators = false;
      EXPECT_EQ(e.code(), is_last_rank() ? ErrorCode::mpi : ErrorCode::internal) << e.what();
      const std::string other = "rank " + std::to_string(world().size() - 1) + " could not make";
      EXPECT_TRUE(is_last_rank() || std::string(e.what()).find(other) != std::string::npos) << e.what();
    }
    use_all(Communicator::borrow(MPI_COMM_WORLD), i);
  }
  use_all(first, 1);
}

// The last rank finds no room for its part: all use messages, and the next communicator has shared memory again.
TEST(LaterCommunicators, OneWithoutRoomOnARankUsesMessages) {
  if (!shares_memory(world()) || kernel_is_old) GTEST_SKIP() << "needs shared memory and Linux 5.14";
  std::vector<Communicator> live;
  for (int i = 0; i < 40; ++i) live.push_back(Communicator::borrow(MPI_COMM_WORLD));
  live.resize(20);
  refuses_pages = is_last_rank();
  for (int i = 0; i < 30; ++i) live.push_back(Communicator::borrow(MPI_COMM_WORLD));
  refuses_pages = false;
  int refused = pages_refused;
  allreduce(world(), std::span(&refused, 1), sum);
  if (refused == 0) GTEST_SKIP() << "UCX hides madvise from this program; set UCX_MEM_MMAP_HOOK_MODE=none";
  const auto without = std::ranges::count_if(live, [](const Communicator& comm) { return !shares_memory(comm); });
  EXPECT_GT(without, 0);
  std::vector<int> all(static_cast<std::size_t>(world().size()));
  allgather(world(), std::vector<int>{static_cast<int>(without)}, all);
  EXPECT_EQ(all, std::vector<int>(all.size(), static_cast<int>(without)));
  for (std::size_t i = 0; i < live.size(); ++i) expect_sums(live[i], static_cast<int>(i), 3);
  live.clear();
  for (int i = 0; i < 30; ++i) live.push_back(Communicator::borrow(MPI_COMM_WORLD));
  for (std::size_t i = 0; i < live.size(); ++i) {
    EXPECT_TRUE(shares_memory(live[i]));
    use_all(live[i], 11 * static_cast<int>(i));
  }
}

/// What a call says, or nothing.
template <typename Call>
std::string error_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return {};
}

/// The last rank finds no room for the cells of a persistent call: an error there, which the others get where they
/// wait.
template <typename Init>
void expect_failure_without_room(const Communicator& comm, const Init& init) {
  expect_sums(comm, 1, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  const int refused = pages_refused;
  refuses_pages = is_last_rank();
  std::string error = error_of(ErrorCode::out_of_memory, [&] {
    Request request = init(comm);
    refuses_pages = false;
    request.start();
    request.wait();
    expect_sums(comm, 2, 3);  // a rank without that neighbour
  });
  refuses_pages = false;
  int is_refused = pages_refused > refused ? 1 : 0;
  MPI_Bcast(&is_refused, 1, MPI_INT, world().size() - 1, MPI_COMM_WORLD);
  if (is_refused == 0) GTEST_SKIP() << "UCX hides madvise from this program; set UCX_MEM_MMAP_HOOK_MODE=none";
  EXPECT_NE(error.find(is_last_rank() ? "/dev/shm" : "rank " + std::to_string(world().size() - 1)), std::string::npos)
      << error;
  EXPECT_FALSE(error_of(ErrorCode::invalid_communicator, [&] { expect_sums(comm, 3, 3); }).empty());
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Persistent, CallWithoutRoomOnARankIsAnErrorOnAll) {
  if (world().size() == 1 || !shares_memory(world()) || kernel_is_old)
    GTEST_SKIP() << "needs shared memory, Linux 5.14";
  const std::vector<int> x(2);
  std::vector<int> y(2);
  expect_failure_without_room(Communicator::borrow(MPI_COMM_WORLD),
                              [&](const Communicator& comm) { return allreduce_init(comm, x, y, sum); });
  if (IsSkipped()) return;
  MPI_Comm ring = MPI_COMM_NULL;
  const int periodic = 1;
  const int size = world().size();
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  expect_failure_without_room(Communicator::borrow(ring), [&](const Communicator& comm) {
    return neighbor_alltoall_init(comm, std::span<const int>(x), std::span(y));
  });
  MPI_Comm_free(&ring);
}

}  // namespace
}  // namespace tutti::test
