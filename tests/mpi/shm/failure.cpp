// SPDX-License-Identifier: BSD-3-Clause
// Ranks that do not come, give up, or name memory that is not theirs: named errors in time, and others live on.
#include <sys/mman.h>

#include <stdexcept>
#include <thread>

#include "backends/shm/layout.hpp"
#include "call/context.hpp"
#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"
#include "support/meet.hpp"
#include "support/shared_names.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t lengths[] = {1, 4'000, 500'000};

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

template <typename Call>
void expect_failure(ErrorCode code, const std::string& word, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one that says " << word;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
}

Options over_shm(std::chrono::nanoseconds timeout = 0ns) {
  Options options;
  options.algorithm = "shm";
  options.timeout = timeout;
  return options;
}

void expect_usable() {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  for (const std::size_t length : lengths) {
    Work work(comm, Operation::allreduce, length);
    work.fill(3);
    work.run(over_shm());
    work.verify("a new communicator");
  }
}

TEST(Timeout, OfARankThatNeverComes) {
  for (const std::size_t length : lengths) {
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    Work work(comm, Operation::allreduce, length);
    work.fill(0);
    if (world_rank() != 0) {
      expect_failure(ErrorCode::timeout, "shm:", [&] { work.run(over_shm(60ms)); });
      expect_failure(ErrorCode::invalid_communicator, "earlier", [&] { barrier(comm); });
    }
    meet();
  }
  expect_usable();
  meet();
}

TEST(Timeout, OfANonblockingCall) {
  for (const std::size_t length : lengths) {
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    Work work(comm, Operation::alltoall, length);
    work.fill(0);
    if (world_rank() != 0) {
      Request request = work.start(over_shm(60ms));
      expect_failure(ErrorCode::timeout, "alltoall", [&] { request.wait(); });
    }
    meet();
  }
  expect_usable();
  meet();
}

TEST(Abort, FromAnotherThreadEndsAWaitForSharedMemory) {
  for (const std::size_t length : lengths) {
    Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    if (world_rank() == 0) {
      std::thread other([&comm] {
        std::this_thread::sleep_for(30ms);
        comm.abort("the solver diverged");
      });
      Work work(comm, Operation::allreduce, length);
      work.fill(0);
      expect_failure(ErrorCode::aborted, "the solver diverged", [&] { work.run(over_shm()); });
      other.join();
    }
    meet();
  }
  expect_usable();
  meet();
}

// One rank aborts; the others wait for it in a call that they begin before or afterwards.
TEST(Abort, EndsTheWaitsOfOtherRanks) {
  for (const char* way : {"shm", "mpi"}) {
    Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    if (comm.size() == 1) return;
    Options options;
    options.algorithm = way;
    options.timeout = 20s;
    Work work(comm, Operation::allreduce, 500);
    work.fill(0);
    work.run(options);
    if (comm.rank() == 0) {
      std::this_thread::sleep_for(50ms);
      comm.abort("the solver diverged");
    }
    const auto begin = std::chrono::steady_clock::now();
    expect_failure(ErrorCode::aborted, "the solver diverged", [&] { work.run(options); });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    meet();
  }
  expect_usable();
  meet();
}

// What the kernel refuses is an error that says so on those who meet it, and the others hear of it.
/// Persistent calls until each owns all cells that there are.
std::vector<Request> all_persistent(const Communicator& comm, std::vector<int>& x) {
  std::vector<Request> all;
  for (int i = 0; i < detail::shm::persistent_owners; ++i) all.push_back(bcast_init(comm, x, 0));
  return all;
}

// Once all cells are given, ranks ask one another which are free again: that ends as every wait does.
TEST(Persistent, OneMoreThanHaveCellsHasTheTimeout) {
  CommunicatorOptions options;
  options.timeout = 200ms;
  for (const bool by_neighbors : {false, true}) {
    MPI_Comm ring = MPI_COMM_NULL;
    const int periodic = 1;
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    const Communicator comm = Communicator::duplicate(ring, options);
    MPI_Comm_free(&ring);
    std::vector<int> x(2);
    std::vector<int> y(2);
    const auto held = all_persistent(comm, x);
    const std::span<const int> send(x);
    if (world_rank() == 0)
      expect_failure(ErrorCode::timeout, "persistent",
                     [&] { (void)(by_neighbors ? neighbor_alltoall_init(comm, send, y) : bcast_init(comm, x, 0)); });
    meet();
  }
}

TEST(Persistent, OneMoreThanHaveCellsHearsOfAnAbort) {
  Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<int> x(2);
  const auto held = all_persistent(comm, x);
  const bool aborts = world_rank() == comm.size() - 1;
  if (aborts) {
    std::this_thread::sleep_for(50ms);
    comm.abort("the solver diverged");
  }
  expect_failure(ErrorCode::aborted, "the solver diverged", [&] { (void)bcast_init(comm, x, 0); });
  meet();
}

TEST(BadPointer, OfTheRootOfABroadcast) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.state()->machine().mapped_copy) GTEST_SKIP() << "loads and stores of XPMEM end the process there";
  Options options = over_shm(20s);
  options.algorithm = "shm:single_copy";
  constexpr std::size_t bytes = std::size_t{8} << 20U;
  void* gone = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  std::vector<unsigned char> data(bytes);
  const bool is_root = comm.rank() == 0;
  munmap(gone, bytes);
  int refused = 0;
  try {
    bcast(comm, Buffer(is_root ? static_cast<unsigned char*>(gone) : data.data(), bytes), 0, options);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    const std::string text = e.what();
    if (e.code() == ErrorCode::invalid_algorithm) GTEST_SKIP() << text;  // on all ranks alike
    const bool is_named = text.find("not (or no longer) valid memory") != std::string::npos;
    EXPECT_TRUE(e.code() == ErrorCode::internal && is_named) << text;
    refused = text.find("takes part no more") == std::string::npos ? 1 : 0;
  }
  int all_refused = 0;
  MPI_Allreduce(&refused, &all_refused, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GE(all_refused, 1) << "no rank met the bad pointer";
  meet();
  expect_usable();
  meet();
}

enum class Form { blocking, nonblocking, persistent };
struct Throwing {
  Form form;
  std::size_t count;
};

class UserOperation : public ::testing::TestWithParam<Throwing> {
 protected:
  /// Sums; throws where the context is not null.
  static void add(const void* in, void* inout, std::size_t count, Datatype /*type*/, void* context) {
    if (context != nullptr) throw std::runtime_error("the material law has no answer");
    for (std::size_t i = 0; i < count; ++i)
      static_cast<std::uint32_t*>(inout)[i] += static_cast<const std::uint32_t*>(in)[i];
  }
  static void call(const Communicator& comm, ReduceOp op) {
    static std::vector<std::uint32_t> send, recv;
    send.assign(GetParam().count, 1);
    recv.assign(GetParam().count, 0);
    Request request;
    switch (GetParam().form) {
      case Form::blocking:
        return allreduce(comm, send, recv, op, over_shm());
      case Form::nonblocking:
        request = iallreduce(comm, send, recv, op, over_shm());
        break;
      case Form::persistent:
        request = allreduce_init(comm, send, recv, op, over_shm());
        request.start();
        break;
    }
    request.wait();
  }
};

// An exception of rank 0 alone: its communicator is broken at once, and the others hear of it in the call in which they
// next wait for rank 0.
TEST_P(UserOperation, ThatThrowsEndsTheCallsOfAllRanks) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  call(comm, ReduceOp::user(add));
  int context = 0;
  const bool is_thrower = comm.rank() == 0;
  const ReduceOp op = ReduceOp::user(add, is_thrower ? &context : nullptr);
  // Where ranks share the work, rank 0 may come too late to combine anything.
  constexpr int most_calls = 40;
  int calls = 0;
  try {
    for (; calls < most_calls; ++calls) call(comm, op);
    ADD_FAILURE() << "no error in " << most_calls << " calls";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.code(), ErrorCode::internal) << text;
    EXPECT_NE(text.find("allreduce"), std::string::npos) << text;
    EXPECT_NE(text.find("the material law has no answer"), std::string::npos) << text;
    EXPECT_EQ(text.find("rank 0 has failed") == std::string::npos, is_thrower) << text;
  }
  expect_failure(ErrorCode::invalid_communicator, "an earlier collective failed", [&] { barrier(comm); });
  meet();
  expect_usable();
  meet();
}

INSTANTIATE_TEST_SUITE_P(Failure, UserOperation,
                         ::testing::Values(Throwing{Form::blocking, 1}, Throwing{Form::blocking, 4'000},
                                           Throwing{Form::blocking, 500'000}, Throwing{Form::nonblocking, 1},
                                           Throwing{Form::nonblocking, 4'000}, Throwing{Form::nonblocking, 500'000},
                                           Throwing{Form::persistent, 1}, Throwing{Form::persistent, 4'000},
                                           Throwing{Form::persistent, 500'000}));

TEST(Segment, LeavesNoNameBehind) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  barrier(comm);
  meet();
  const int mine = static_cast<int>(names_made().size());
  int made = 0;
  MPI_Allreduce(&mine, &made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_GT(made, 0) << "no segment was made, so the test has shown nothing";
  EXPECT_EQ(names_left(), std::vector<std::string>());
  meet();
}

}  // namespace
}  // namespace tutti::test
