// SPDX-License-Identifier: BSD-3-Clause
// Legal MPI programs in which one rank is inside the host MPI while others need what it gave to Tutti before.
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <thread>
#include <tutti/request.hpp>

#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"
#include "support/shared_numbers.hpp"

namespace {

/// What a waiting rank does: its sleeps, and those of them that no look into MPI came before, except the first.
int sleeps = 0;
int blind_sleeps = 0;
int* shown_sleeps = &sleeps;  ///< where other ranks see their number
bool has_looked = true;

}  // namespace

// These come before the functions of the libraries, which they call.
extern "C" int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  has_looked = true;
  return PMPI_Iprobe(source, tag, comm, flag, status);
}
extern "C" long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    std::atomic_ref(*shown_sleeps).fetch_add(1);
    if (!has_looked) ++blind_sleeps;
    has_looked = false;
  }
  using Function = long (*)(long, ...);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "syscall"));
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

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
      MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
      work.run();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      if (world().rank() == 1)
        MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
      MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      request.wait();
    } else {
      request.wait();
      if (world().rank() == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
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
      MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      request.wait();
    } else {
      request.wait();
      if (world().rank() == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
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
  return std::string(operation_name(test.param.operation)) + "_" + std::to_string(test.param.bytes);
});

/// Ranks yield before they sleep, for long where other programs are busy.
void wait_for_sleeps(const SharedNumbers& numbers, int wanted) {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 30s;
  for (int rank = 1; rank < world().size(); ++rank)
    while (std::atomic_ref(numbers.of(rank)).load() < wanted && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(5ms);
}

// Access to a window of a rank that waits, and a large message from it, go on only while it looks into MPI.
TEST(WaitingRank, LooksIntoMpiAfterEverySleep) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  constexpr int wanted = 10;
  const SharedNumbers numbers;
  barrier(world());
  shown_sleeps = &numbers.of(world().rank());
  has_looked = true;
  blind_sleeps = 0;
  if (world().rank() == 0) wait_for_sleeps(numbers, wanted);
  barrier(world());
  const int slept = *shown_sleeps;
  shown_sleeps = &sleeps;
  EXPECT_GE(slept, world().rank() != 0 ? wanted : 0) << "the rank did not sleep, so the test has shown nothing";
  EXPECT_EQ(blind_sleeps, 0) << "of " << slept << " sleeps";
}

/// Blocks that exceed an equal share of a slot and fit it together, because they are unequal or the share is rounded.
class UnevenBlocks : public ::testing::TestWithParam<bool> {
 protected:
  /// Rank 0 starts its part and is inside the host MPI until the others have finished theirs.
  void finish_without_rank_0(Request& request) const {
    const bool persistent = GetParam();
    for (int round = 0; round < (persistent ? 2 : 1); ++round) {
      if (persistent) request.start();
      int token = 0;
      if (world().rank() == 0) MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      request.wait();
      if (world().rank() == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
  }
  [[nodiscard]] static Options by_slots() {
    Options options;
    options.algorithm = "shm:slots";
    return options;
  }
};

TEST_P(UnevenBlocks, OfReduceScatter) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto size = static_cast<std::uint32_t>(world().size());
  for (const std::size_t elements : {std::size_t{3'000}, std::size_t{7'500}, std::size_t{8'192}})
    for (std::size_t rest : {std::size_t{0}, std::size_t{1}, elements / 5}) {
      std::vector<std::size_t> counts(size, 0);
      counts[1] = elements - rest;
      counts[0] = rest;
      const auto me = static_cast<std::size_t>(world().rank());
      std::vector<std::uint32_t> send(elements);
      std::vector<std::uint32_t> recv(counts[me] + 1, 7);
      for (std::size_t i = 0; i < elements; ++i) send[i] = static_cast<std::uint32_t>(i * 5 + me);
      const auto out = std::span(recv).first(counts[me]);
      Request request = GetParam() ? reduce_scatter_init(world(), send, out, counts, sum, by_slots())
                                   : ireduce_scatter(world(), send, out, counts, sum, by_slots());
      finish_without_rank_0(request);
      const std::size_t begin = me == 1 ? rest : 0;
      for (std::size_t i = 0; i < counts[me]; ++i)
        ASSERT_EQ(recv[i], static_cast<std::uint32_t>((begin + i) * 5) * size + size * (size - 1) / 2)
            << "element " << i << " of " << elements << ", rank " << me;
      EXPECT_EQ(recv.back(), 7U) << "written behind the result";
    }
}

TEST_P(UnevenBlocks, OfAlltoall) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const auto size = static_cast<std::size_t>(world().size());
  const auto me = static_cast<std::size_t>(world().rank());
  // Of three ranks, blocks that a share rounded to whole lines does not hold; of two or four, the longest.
  const std::size_t share = std::size_t{32'768} / size / 64 * 64;
  for (const std::size_t block : {share, std::min(share + 1, 32'768 / size), 32'768 / size}) {
    std::vector<unsigned char> send(block * size);
    std::vector<unsigned char> recv(block * size + 1, 7);
    const auto value = [](std::size_t from, std::size_t to, std::size_t i) {
      return static_cast<unsigned char>(i * 7 + from * 3 + to + i / 251);
    };
    for (std::size_t i = 0; i < send.size(); ++i) send[i] = value(me, i / block, i % block);
    const auto out = std::span(recv).first(send.size());
    Request request =
        GetParam() ? alltoall_init(world(), send, out, by_slots()) : ialltoall(world(), send, out, by_slots());
    finish_without_rank_0(request);
    for (std::size_t i = 0; i < send.size(); ++i)
      ASSERT_EQ(recv[i], value(i / block, me, i % block)) << "byte " << i << ", blocks of " << block;
    EXPECT_EQ(recv.back(), 7U) << "written behind the last block";
  }
}

INSTANTIATE_TEST_SUITE_P(Progress, UnevenBlocks, ::testing::Bool(),
                         [](const auto& test) { return std::string(test.param ? "persistent" : "nonblocking"); });

}  // namespace
}  // namespace tutti::test
