// SPDX-License-Identifier: BSD-3-Clause
// When the MPI calls the library, and what that costs.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "call/progress.hpp"
#include "mpi/progress_hook/away.hpp"
#include "support/instructions.hpp"
#include "support/standin/progress_hook.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
namespace progress_hook = detail::progress_hook;
namespace standin = standin_progress_hook;

/// On a communicator other than that of one rank, for which MPICH makes no progress.
void iprobe(int times = 1) {
  int found = 0;
  for (int i = 0; i < times; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

Options by_schedule() {
  Options options;
  options.algorithm = "mpi";
  return options;
}

class Idle : public WithHook {
 protected:
  std::vector<float> x_ = std::vector<float>(20'000, 1.0F);
};

/// Only MPI is called between the start and the look at the request, which is no call that makes progress.
TEST_F(Idle, ACallEndsWithoutACallOfTutti) {
  for (const char* algorithm : {"mpi", "shm", ""}) {
    if (std::string_view(algorithm) == "shm" && !world().state()->machine().shared_memory) continue;
    Options options;
    options.algorithm = algorithm;
    x_.assign(x_.size(), 1.0F);
    Request request = iallreduce(world(), x_, sum, options);
    while (request.active()) {
      iprobe();
      std::this_thread::yield();
    }
    EXPECT_EQ(x_.back(), static_cast<float>(world().size())) << algorithm;
    request.wait();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// The data of a buffer with gaps are unpacked there too.
TEST_F(Idle, ACallOnABufferWithGapsEndsWithoutACallOfTutti) {
  constexpr std::size_t elements = 3'000;
  std::vector<int> values(2 * elements, world().rank());
  const Layout every_other = Layout::vector(elements, 1, 2);
  Request request = ibcast(world(), Buffer(values.data(), every_other), 1, by_schedule());
  while (request.active()) {
    iprobe();
    std::this_thread::yield();
  }
  EXPECT_EQ(values[2 * elements - 2], 1);
  EXPECT_EQ(values[2 * elements - 1], world().rank());
  request.wait();
}

TEST_F(Idle, TheMpiCallsNobodyOnceAllCallsHaveEnded) {
  if (detail::host_is_open_mpi()) GTEST_SKIP() << "Open MPI calls a function that returns at once";
  std::vector<float> other(x_.size());  // not the buffer of a call that is under way
  for (int i = 0; i < 3; ++i) {
    Request first = iallreduce(world(), x_, max, by_schedule());
    Request second = ibcast(world(), std::span(other), 0, by_schedule());
    first.wait();
    second.wait();
    MPI_Barrier(MPI_COMM_WORLD);
    iprobe(3);
    EXPECT_FALSE(progress_hook::is_armed());
  }
}

TEST_F(Idle, OnePollServesAllCallsAndEndsWithThem) {
  if (!standin::is_loaded()) GTEST_SKIP() << "counts of the stand-in";
  MPI_Barrier(MPI_COMM_WORLD);
  iprobe(3);
  ASSERT_EQ(standin::counts().alive, 0);
  const long polls_before = standin::counts().polls;
  iprobe(100);
  EXPECT_EQ(standin::counts().polls, polls_before);
  // Rank 1 starts late, so that the calls of rank 0 are outstanding for certain.
  if (world().rank() == 1) MPI_Recv(nullptr, 0, MPI_INT, 0, away_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::vector<float> y(x_);
  const long starts_before = standin::counts().starts;
  Request first = iallreduce(world(), x_, max, by_schedule());
  Request second = iallreduce(world(), y, max, by_schedule());
  if (world().rank() == 0) {
    EXPECT_EQ(standin::counts().alive, 1);
    EXPECT_EQ(standin::counts().starts, starts_before + 1);
    MPI_Send(nullptr, 0, MPI_INT, 1, away_tag, MPI_COMM_WORLD);
  }
  first.wait();
  second.wait();
  MPI_Barrier(MPI_COMM_WORLD);
  iprobe(3);
  EXPECT_EQ(standin::counts().alive, 0);
}

#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool is_optimised = true;
#else
constexpr bool is_optimised = false;
#endif

/// The instructions of this library that a call of MPI_Iprobe runs. They are counted on rank 0; empty elsewhere.
std::optional<long> instructions_of_iprobe() {
  constexpr int calls = 20;
  if (world().rank() != 0) return std::nullopt;
  iprobe(1);  // Some calls of each need more than the others.
  const auto all = own_instructions_of([] { iprobe(calls); });
  const auto none = own_instructions_of([] { iprobe(0); });
  if (!all || !none) return std::nullopt;
  return (*all - *none) / calls;
}

/// The time of a call, for docs/performance.md: the median of many rounds.
int picoseconds_of_iprobe() {
  using Clock = std::chrono::steady_clock;
  constexpr int calls = 5'000;
  std::vector<double> rounds(21);
  for (double& round : rounds) {
    const auto begin = Clock::now();
    iprobe(calls);
    round = std::chrono::duration<double>(Clock::now() - begin).count() / calls;
  }
  std::sort(rounds.begin(), rounds.end());
  return static_cast<int>(rounds[rounds.size() / 2] * 1e12);
}

/// Of the loop in iprobe() and the call itself.
constexpr long of_the_test = 15;

TEST_F(Idle, CostsNextToNothing) {
  if (world().rank() == 0) RecordProperty("picoseconds_before", picoseconds_of_iprobe());
  MPI_Barrier(MPI_COMM_WORLD);
  Request request = iallreduce(world(), x_, max, by_schedule());
  request.wait();
  MPI_Barrier(MPI_COMM_WORLD);
  iprobe(3);
  if (world().rank() == 0) RecordProperty("picoseconds_idle", picoseconds_of_iprobe());
  const auto idle = instructions_of_iprobe();
  MPI_Barrier(MPI_COMM_WORLD);
  if (world().rank() != 0) return;
  if (!idle) GTEST_SKIP() << "processes may not be traced here";
  if (!is_optimised) GTEST_SKIP() << "not an optimised build: " << *idle << " instructions";
  RecordProperty("instructions", static_cast<int>(*idle));
  EXPECT_LE(*idle, of_the_test + (detail::host_is_open_mpi() ? 10 : 0));
}

// One call is outstanding and cannot go on, because rank 1 has not started it.
TEST_F(Idle, AWaitingCallCostsLittle) {
  std::optional<long> waiting;
  for (const char* algorithm : {"mpi", "shm"}) {
    if (std::string_view(algorithm) == "shm" && !world().state()->machine().shared_memory) continue;
    Options options;
    options.algorithm = algorithm;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world().rank() != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, away_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Request request = iallreduce(world(), x_, max, options);
    if (world().rank() == 0) {
      iprobe(1'000);  // now and then a step does more
      RecordProperty(std::string("picoseconds_") + algorithm, picoseconds_of_iprobe());
      waiting = instructions_of_iprobe();
      for (int r = 1; r < world().size(); ++r) MPI_Send(nullptr, 0, MPI_INT, r, away_tag, MPI_COMM_WORLD);
    }
    request.wait();
    if (!is_optimised || !waiting) continue;
    RecordProperty(std::string("instructions_") + algorithm, static_cast<int>(*waiting));
    EXPECT_GT(*waiting, of_the_test) << algorithm << ": a step was counted";
    EXPECT_LE(*waiting, 450) << algorithm;
  }
}

/// Where a user's function is called.
std::atomic<int> calls_inside{0};
void greatest(const void* in, void* inout, std::size_t count, Datatype /*type*/, void* /*context*/) {
  if (progress_hook::is_inside()) calls_inside.fetch_add(1);
  for (std::size_t i = 0; i < count; ++i) {
    const float a = static_cast<const float*>(in)[i];
    float& b = static_cast<float*>(inout)[i];
    b = std::max(a, b);
  }
}

TEST_F(Idle, UsersFunctionsRunInsideTheMpi) {
  calls_inside.store(0);
  std::fill(x_.begin(), x_.end(), static_cast<float>(world().rank()));
  Options ring;
  ring.algorithm = "ring";
  if (world().rank() != 0) std::this_thread::sleep_for(20ms);
  Request request = iallreduce(world(), x_, ReduceOp::user(greatest), ring);
  while (request.active()) {
    iprobe();
    std::this_thread::yield();
  }
  EXPECT_EQ(x_.back(), static_cast<float>(world().size() - 1));
  const bool is_alone = !detail::ProgressEngine::instance().has_thread();
  if (world().rank() == 0 && is_alone) {
    EXPECT_GT(calls_inside.load(), 0) << "rank 0 came first, and combines what comes later";
  }
  request.wait();
}

// The timeout of a call ends it while its rank is inside the MPI, and the communicator with it.
TEST_F(Idle, ATimeoutPassesInsideTheMpi) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  Options options = by_schedule();
  options.timeout = 100ms;
  if (comm.rank() == 0) {
    Request request = iallreduce(comm, x_, sum, options);
    be_away(Place::recv);
    EXPECT_FALSE(request.active());
    EXPECT_EQ(request.error(), ErrorCode::timeout);
    EXPECT_THROW(request.wait(), Error);
  } else {
    std::this_thread::sleep_for(600ms);
    call_back(Place::recv);
    // Takes what rank 0 has sent: MPICH 5 frees no communicator with a message that nobody has received.
    try {
      allreduce(comm, x_, sum, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::timeout) << e.what();
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// The last reference to a communicator ends with a call that has ended inside the MPI, but not there: to free a
// communicator is no step.
TEST_F(Idle, ACommunicatorEndsInACallOfTutti) {
  for (int i = 0; i < 3; ++i) {
    std::weak_ptr<detail::Context> state;
    {
      const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
      state = comm.state();
      const Request left = iallreduce(comm, x_, max, by_schedule());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    iprobe(100);
    MPI_Barrier(MPI_COMM_WORLD);
    while (!state.expired()) {
      progress();
      std::this_thread::yield();
    }
    barrier(world());
  }
}

}  // namespace
}  // namespace tutti::test
